package dev.windlass;

import dev.windlass.base.Feature;
import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.health.HealthStatus;
import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tells listeners once a minute how much there is, or that it cannot be found out; if nobody listens, it asks nothing. */
final class MinuteByMinute {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration FIRST = Duration.ofSeconds(1);

    private final FeatureNodes nodes;
    private final Database database;
    private final String leaseTable;
    private final int most;
    private final Loop loop;
    private boolean stopped;
    /** What was counted last; null before the first time, and if it could not be found out. */
    private volatile @Nullable List<QueueMeasure> last;

    MinuteByMinute(WindlassBuilder builder, FeatureNodes nodes) {
        this.nodes = nodes;
        this.database = nodes.database.answeringWithin(builder.health.timeout()).givingUpLogins(Node.LONGEST_LOGIN);
        this.leaseTable = builder.leases.tableName();
        this.most = builder.health.backlogUnhealthy() + 1;
        this.loop = new Loop("[" + database.name() + "] measuring", nodes.node.workers(), this::measure, MINUTE);
    }

    void start() {
        if (database.events().areHeard()) {
            loop.start(FIRST);
        }
    }

    @Nullable
    List<QueueMeasure> last() {
        return last;
    }

    Loop loop() {
        return loop;
    }

    /** Nothing is told after this, also by a step that is under way: a store that is gone would come back to dashboards. */
    synchronized void askToStop() {
        stopped = true;
        loop.askToStop();
    }

    /** What a node knows of itself is told also if nothing is known of the tables: then it matters most. */
    private Duration measure() throws SQLException {
        try {
            List<QueueMeasure> queues = nodes.measuring().measure(most);
            long activeLeases = activeLeases();
            last = queues;
            tell(new WindlassEvent.Measured(database.store(), queues, activeLeases, inHand(), loops()));
            return MINUTE;
        } catch (SQLException | RuntimeException e) {
            last = null;
            tell(new WindlassEvent.MeasureFailed(database.store(), inHand(), loops()));
            throw e;
        }
    }

    private Map<QueueKind, Integer> inHand() {
        Map<QueueKind, Integer> inHand = new EnumMap<>(QueueKind.class);
        for (Dispatcher<?> dispatcher : nodes.dispatchers()) {
            inHand.put(dispatcher.queue(), dispatcher.inHand());
        }
        return Map.copyOf(inHand);
    }

    private HealthStatus loops() {
        return nodes.loopsCheck().check().status();
    }

    private synchronized void tell(WindlassEvent event) {
        if (!stopped) {
            database.events().tell(event);
        }
    }

    private long activeLeases() throws SQLException {
        return nodes.has(Feature.LEASES)
                ? database.once(connection -> database.call(connection, leaseTable + "_active")
                        .integer(most)
                        .list(row -> row.getLong("active"))
                        .get(0))
                : 0;
    }
}
