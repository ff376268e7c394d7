package dev.windlass;

import dev.windlass.base.QueueKind;
import dev.windlass.base.WindlassException;
import dev.windlass.health.Health;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.health.Checkup;
import dev.windlass.internal.health.Measures;
import dev.windlass.internal.health.NamedCheck;
import dev.windlass.internal.health.Throughput;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.support.InWords;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The checks of one node. */
final class NodeHealth implements Health {
    static final Set<String> NAMES = Set.of(
            "database", "schema", "loops", "lease renewal", "stuck work", "backlog", "overdue timers", "throughput");

    /** Every call of a loop is given up after a minute, and no step makes more than a few; only a login may take longer. */
    private static final Duration HANGS = Duration.ofMinutes(15);

    private static final int FAILS_THROUGHOUT = 5;

    private final FeatureNodes nodes;
    private final Starting starting;
    private final HealthOptions options;
    private final Measures measures;
    private final Throughput throughput;
    private final Checkup all;
    private final Checkup live;
    private final Checkup ready;

    NodeHealth(WindlassBuilder builder, FeatureNodes nodes, Starting starting) {
        this.nodes = nodes;
        this.starting = starting;
        this.options = builder.health;
        this.measures = new Measures(nodes.measuring(), options.backlogUnhealthy() + 1, options.cacheFor());
        this.throughput = new Throughput(() -> sum(Dispatcher::claimed), () -> sum(Dispatcher::settled));
        List<NamedCheck> alive = List.of(new NamedCheck("loops", this::loops));
        List<NamedCheck> able = List.of(
                new NamedCheck("database", this::database),
                new NamedCheck("schema", this::schema),
                new NamedCheck("lease renewal", this::renewal));
        List<NamedCheck> whole = new ArrayList<>(able);
        whole.addAll(alive);
        whole.addAll(List.of(
                new NamedCheck("stuck work", this::stuck),
                new NamedCheck("backlog", this::backlog),
                new NamedCheck("overdue timers", this::overdue),
                new NamedCheck("throughput", throughput)));
        builder.healthChecks.forEach((name, check) -> whole.add(new NamedCheck(name, check)));
        live = checkup(alive);
        ready = checkup(able);
        all = checkup(whole);
    }

    private Checkup checkup(List<NamedCheck> checks) {
        return new Checkup(checks, options, nodes.node.workers(), this::inWords);
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

    /** No text of the driver or the server: it may quote a row. */
    private String inWords(Throwable e) {
        if (e instanceof SQLException sql) {
            return nodes.database.describe(sql);
        }
        return e instanceof WindlassException ? String.valueOf(e.getMessage()) : String.valueOf(nodes.database.safe(e));
    }

    private long sum(ToLongFunction<Dispatcher<?>> count) {
        return nodes.dispatchers().stream().mapToLong(count).sum();
    }

    private HealthFinding database() throws SQLException {
        long start = System.nanoTime();
        Database answering = nodes.database.answeringWithin(options.timeout());
        boolean valid = answering.once(
                connection -> connection.isValid((int) options.timeout().toSeconds() + 1));
        return valid
                ? HealthFinding.healthy(
                        String.format(Locale.ROOT, "it answers after %.1f ms", (System.nanoTime() - start) / 1e6))
                : HealthFinding.unhealthy("it does not answer");
    }

    private HealthFinding schema() throws SQLException {
        starting.migrator().check();
        return starting.isRunning()
                ? HealthFinding.healthy("it is what this program needs")
                : HealthFinding.unhealthy("it is what this program needs, but the node has not started yet");
    }

    HealthFinding loops() {
        List<Loop.State> states = nodes.loops().stream().map(Loop::state).toList();
        List<Loop.State> hanging = states.stream()
                .filter(state -> state.stepFor().compareTo(HANGS) > 0)
                .toList();
        List<Loop.State> failing = states.stream()
                .filter(state -> state.failures() >= FAILS_THROUGHOUT)
                .toList();
        if (!hanging.isEmpty() && nodes.database.isAway()) {
            return HealthFinding.degraded(names(hanging) + " waits for the database, which is away");
        }
        if (!hanging.isEmpty()) {
            return HealthFinding.unhealthy(
                    names(hanging) + " for more than " + InWords.of(HANGS) + " without an end; a restart may help");
        }
        return failing.isEmpty()
                ? HealthFinding.healthy(states.size() + " loops go on")
                : HealthFinding.degraded(names(failing) + " fails again and again; the log tells why");
    }

    private static String names(List<Loop.State> states) {
        return states.stream().map(Loop.State::name).limit(5).collect(Collectors.joining(", "));
    }

    HealthFinding renewal() {
        long lapsed = sum(Dispatcher::lapsed);
        return lapsed == 0
                ? HealthFinding.healthy("all that this node holds is renewed in time")
                : HealthFinding.unhealthy(lapsed + " messages are held whose leases could not be renewed in time");
    }

    private HealthFinding stuck() throws SQLException {
        return worst("stuck", measure -> measure.stuck(), 0, options.stuckUnhealthy(), measures.latest().stream());
    }

    private HealthFinding backlog() throws SQLException {
        return worst(
                "due",
                QueueMeasure::ready,
                options.backlogDegraded(),
                options.backlogUnhealthy(),
                measures.latest().stream().filter(measure -> measure.queue() != QueueKind.TIMERS));
    }

    private HealthFinding overdue() throws SQLException {
        return worst(
                "overdue",
                QueueMeasure::overdue,
                options.overdueDegraded(),
                options.overdueUnhealthy(),
                measures.latest().stream().filter(measure -> measure.queue() == QueueKind.TIMERS));
    }

    private static HealthFinding worst(
            String what, ToLongFunction<QueueMeasure> count, int degraded, int unhealthy, Stream<QueueMeasure> all) {
        List<QueueMeasure> measured = all.toList();
        long most = measured.stream().mapToLong(count).max().orElse(0);
        HealthStatus status = most > unhealthy
                ? HealthStatus.UNHEALTHY
                : most > degraded ? HealthStatus.DEGRADED : HealthStatus.HEALTHY;
        String told = measured.stream()
                .map(measure -> measure.queue() + " " + bounded(count.applyAsLong(measure), unhealthy))
                .collect(Collectors.joining(", "));
        return new HealthFinding(status, what + ": " + (told.isEmpty() ? "nothing to count" : told));
    }

    private static String bounded(long count, int unhealthy) {
        return count > unhealthy ? "more than " + unhealthy : Long.toString(count);
    }
}
