package dev.windlass;

import dev.windlass.base.QueueKind;
import dev.windlass.base.WindlassException;
import dev.windlass.health.Health;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.health.Checkup;
import dev.windlass.internal.health.CountCheck;
import dev.windlass.internal.health.DatabaseCheck;
import dev.windlass.internal.health.LoopsCheck;
import dev.windlass.internal.health.Measures;
import dev.windlass.internal.health.NamedCheck;
import dev.windlass.internal.health.Throughput;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;

/** The checks of one node, and to which question each belongs. */
final class NodeHealth implements Health {
    static final String STUCK = "stuck work";
    static final String BACKLOG = "backlog";
    static final String OVERDUE = "overdue timers";
    static final String THROUGHPUT = "throughput";
    static final Set<String> NAMES =
            Set.of("database", "schema", "loops", "lease renewal", STUCK, BACKLOG, OVERDUE, THROUGHPUT);

    /** A row may be locked for a moment. */
    private static final int FAILS_THROUGHOUT = 3;

    private final FeatureNodes nodes;
    private final Starting starting;
    private final HealthOptions options;
    private final Measures measures;
    private final LoopsCheck loops;
    private final Throughput throughput;
    private final Checkup all;
    private final Checkup live;
    private final Checkup ready;

    NodeHealth(WindlassBuilder builder, FeatureNodes nodes, Starting starting) {
        this.nodes = nodes;
        this.starting = starting;
        this.options = builder.health;
        this.measures = new Measures(nodes.measuring(), options.backlogUnhealthy() + 1, options.cacheFor());
        this.loops = nodes.loopsCheck();
        this.throughput = new Throughput(
                () -> sum(Dispatcher::claimed),
                () -> sum(Dispatcher::settled),
                () -> sum(Dispatcher::inHand) - sum(Dispatcher::lapsed),
                options.throughputDegraded());
        List<NamedCheck> alive = List.of(new NamedCheck("loops", loops));
        List<NamedCheck> able = List.of(
                new NamedCheck("database", new DatabaseCheck(nodes.database, options.timeout())),
                new NamedCheck("schema", this::schema),
                new NamedCheck("lease renewal", this::renewal));
        List<NamedCheck> whole = new ArrayList<>(able);
        whole.addAll(alive);
        whole.addAll(counts(measures::latest));
        whole.add(new NamedCheck(THROUGHPUT, throughput));
        builder.healthChecks.forEach((name, check) -> whole.add(new NamedCheck(name, check)));
        live = checkup(alive);
        ready = checkup(able);
        all = checkup(whole);
    }

    private List<NamedCheck> counts(CountCheck.Counts counts) {
        return List.of(
                new NamedCheck(
                        STUCK,
                        new CountCheck(
                                "stuck", counts, any -> true, QueueMeasure::stuck, false, 0, options.stuckUnhealthy())),
                new NamedCheck(
                        BACKLOG,
                        new CountCheck(
                                "due",
                                counts,
                                queue -> queue != QueueKind.TIMERS,
                                QueueMeasure::ready,
                                true,
                                options.backlogDegraded(),
                                options.backlogUnhealthy())),
                new NamedCheck(
                        OVERDUE,
                        new CountCheck(
                                "overdue",
                                counts,
                                queue -> queue == QueueKind.TIMERS,
                                QueueMeasure::overdue,
                                true,
                                options.overdueDegraded(),
                                options.overdueUnhealthy())));
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

    List<QueueMeasure> queues() throws SQLException {
        return measures.latest();
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

    private HealthFinding schema() throws SQLException {
        starting.migrator().check();
        return starting.isRunning()
                ? HealthFinding.healthy("it is what this program needs")
                : HealthFinding.unhealthy("it is what this program needs, but the node has not started yet");
    }

    /** Whether there is too much of something, as far as that was counted lately; asks no database. */
    Optional<HealthStatus> known(String count) {
        List<QueueMeasure> last = nodes.minutes().last();
        return last == null
                ? Optional.empty()
                : counts(() -> last).stream()
                        .filter(named -> named.name().equals(count))
                        .findFirst()
                        .map(NodeHealth::status);
    }

    private static HealthStatus status(NamedCheck named) {
        try {
            return named.check().check().status();
        } catch (Exception e) {
            throw new IllegalStateException(e); // what was counted is there
        }
    }

    HealthStatus throughput() {
        return throughput.check().status();
    }

    HealthFinding loops() {
        return loops.check();
    }

    HealthFinding renewal() {
        long lapsed = sum(Dispatcher::lapsed);
        if (lapsed > 0) {
            return HealthFinding.unhealthy(lapsed + " messages are held whose leases could not be renewed in time");
        }
        int failures = nodes.leases.renewalFailures();
        return failures < FAILS_THROUGHOUT
                ? HealthFinding.healthy("all that this node holds is renewed in time")
                : HealthFinding.degraded("leases could not be renewed, " + failures + " times in a row");
    }
}
