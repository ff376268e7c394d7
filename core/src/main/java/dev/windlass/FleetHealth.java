package dev.windlass;

import dev.windlass.health.Health;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.internal.health.Checkup;
import dev.windlass.internal.health.NamedCheck;
import dev.windlass.internal.loop.Workers;
import dev.windlass.store.StoreState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * How a fleet is, from what is known of its stores without asking a database: each store looks for work by itself, and learns there whether its
 * database is away. So the answer costs the same for a thousand stores, and is up to half a minute old.
 *
 * <p>One sick store neither stops the others nor makes the process unready: that is degraded, and its name is told. Only if none of them is
 * well, the fleet is not.
 */
final class FleetHealth implements Health {
    static final Set<String> NAMES = Set.of(
            "discovery",
            "stores",
            "loops",
            "lease renewal",
            NodeHealth.STUCK,
            NodeHealth.BACKLOG,
            NodeHealth.OVERDUE,
            NodeHealth.THROUGHPUT);

    private static final int MOST_NAMED = 5;

    private final Supplier<HealthFinding> discovery;
    private final Supplier<List<StoreState>> states;
    private final Supplier<Map<String, Windlass>> open;
    private final Checkup all;
    private final Checkup live;
    private final Checkup ready;

    /**
     * @param discovery whether it is known which stores there are
     * @param open what works on each store that is open
     */
    FleetHealth(
            FleetBuilder builder,
            Workers workers,
            Supplier<HealthFinding> discovery,
            Supplier<List<StoreState>> states,
            Supplier<Map<String, Windlass>> open) {
        this.discovery = discovery;
        this.states = states;
        this.open = open;
        List<NamedCheck> alive = List.of(new NamedCheck("loops", this::loops));
        List<NamedCheck> able =
                List.of(new NamedCheck("discovery", discovery::get), new NamedCheck("stores", this::stores));
        List<NamedCheck> whole = new ArrayList<>(able);
        whole.addAll(alive);
        whole.add(new NamedCheck("lease renewal", this::renewal));
        whole.add(new NamedCheck(NodeHealth.STUCK, () -> counted(NodeHealth.STUCK, "work that is stuck")));
        whole.add(new NamedCheck(NodeHealth.BACKLOG, () -> counted(NodeHealth.BACKLOG, "too much that is due")));
        whole.add(new NamedCheck(NodeHealth.OVERDUE, () -> counted(NodeHealth.OVERDUE, "timers that are overdue")));
        whole.add(new NamedCheck(NodeHealth.THROUGHPUT, this::throughput));
        builder.healthChecks.forEach((name, check) -> whole.add(new NamedCheck(name, check)));
        live = new Checkup(alive, builder.health, workers, FleetHealth::inWords);
        ready = new Checkup(able, builder.health, workers, FleetHealth::inWords);
        all = new Checkup(whole, builder.health, workers, FleetHealth::inWords);
    }

    private static String inWords(Throwable e) {
        return e instanceof Exception exception
                ? FleetBuilder.inWords(exception)
                : e.getClass().getName();
    }

    @Override
    public HealthReport all() {
        return all.report();
    }

    @Override
    public HealthReport live() {
        return live.report();
    }

    @Override
    public HealthReport ready() {
        return ready.report();
    }

    private HealthFinding stores() {
        Map<String, Windlass> working = open.get();
        List<String> wanted = states.get().stream()
                .filter(state -> state.status() != StoreState.Status.CLOSING)
                .map(StoreState::id)
                .toList();
        List<String> unwell = wanted.stream()
                .filter(id -> {
                    Windlass windlass = working.get(id);
                    return windlass == null || !windlass.answers();
                })
                .toList();
        return finding(
                wanted.size(),
                unwell,
                "are open, and their databases answer",
                "are not open, or their databases are away");
    }

    private HealthFinding loops() {
        HealthFinding own = discovery.get();
        Map<String, Windlass> working = open.get();
        List<String> unwell =
                unwell(working, windlass -> windlass.nodeHealth().loops().status());
        return own.status() == HealthStatus.UNHEALTHY && working.isEmpty()
                ? HealthFinding.degraded("no store is known yet")
                : finding(working.size(), unwell, "have loops that go on", "have loops that hang; a restart may help");
    }

    private HealthFinding renewal() {
        Map<String, Windlass> working = open.get();
        List<String> unwell =
                unwell(working, windlass -> windlass.nodeHealth().renewal().status());
        return finding(
                working.size(),
                unwell,
                "renew what they hold in time",
                "hold messages whose leases could not be renewed");
    }

    /** From what each store counts for its gauges, once a minute, as long as somebody listens. */
    private HealthFinding counted(String count, String what) {
        Map<String, HealthStatus> known = new TreeMap<>();
        open.get().forEach((id, windlass) -> windlass.nodeHealth().known(count).ifPresent(s -> known.put(id, s)));
        return known.isEmpty()
                ? HealthFinding.healthy("no store has been counted; stores are, once a minute, if there is a listener")
                : worst(known, "have no " + what, "have " + what);
    }

    private HealthFinding throughput() {
        Map<String, HealthStatus> known = new TreeMap<>();
        open.get().forEach((id, windlass) -> known.put(id, windlass.nodeHealth().throughput()));
        return worst(known, "end what they claim", "claim more than comes to an end");
    }

    /** Only if it is so everywhere, it is as bad as it is there. */
    private static HealthFinding worst(Map<String, HealthStatus> stores, String well, String ill) {
        List<String> unwell = stores.keySet().stream()
                .filter(id -> stores.get(id) != HealthStatus.HEALTHY)
                .toList();
        HealthFinding finding = finding(stores.size(), unwell, well, ill);
        return finding.status() == HealthStatus.UNHEALTHY && stores.containsValue(HealthStatus.DEGRADED)
                ? HealthFinding.degraded(finding.description())
                : finding;
    }

    private interface Status {
        HealthStatus of(Windlass windlass);
    }

    private static List<String> unwell(Map<String, Windlass> working, Status status) {
        Predicate<Map.Entry<String, Windlass>> isUnwell =
                entry -> status.of(entry.getValue()) == HealthStatus.UNHEALTHY;
        return working.entrySet().stream()
                .filter(isUnwell)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    private static HealthFinding finding(int all, List<String> unwell, String well, String ill) {
        if (unwell.isEmpty()) {
            return HealthFinding.healthy("all " + all + " stores " + well);
        }
        String told = unwell.size() + " of " + all + " stores " + ill + ": " + named(unwell);
        return unwell.size() < all ? HealthFinding.degraded(told) : HealthFinding.unhealthy(told);
    }

    private static String named(List<String> ids) {
        String first = ids.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
        int others = ids.size() - MOST_NAMED;
        return others > 0 ? first + " and " + others + " more" : first;
    }
}
