package dev.windlass;

import dev.windlass.base.Feature;
import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.loop.Loop;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Tells listeners once a minute how much there is; if nobody listens, it asks nothing. */
final class MinuteByMinute {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration FIRST = Duration.ofSeconds(1);

    private final FeatureNodes nodes;
    private final Database database;
    private final String leaseTable;
    private final int most;
    private final Loop loop;

    MinuteByMinute(WindlassBuilder builder, FeatureNodes nodes) {
        this.nodes = nodes;
        this.database = nodes.database.answeringWithin(builder.health.timeout());
        this.leaseTable = builder.leases.tableName();
        this.most = builder.health.backlogUnhealthy() + 1;
        this.loop = new Loop("[" + database.name() + "] measuring", nodes.node.workers(), this::measure, MINUTE);
    }

    void start() {
        if (database.events().areHeard()) {
            loop.start(FIRST);
        }
    }

    void askToStop() {
        loop.askToStop();
    }

    private Duration measure() throws SQLException {
        List<QueueMeasure> queues = nodes.measuring().measure(most);
        Map<QueueKind, Integer> inHand = new EnumMap<>(QueueKind.class);
        for (Dispatcher<?> dispatcher : nodes.dispatchers()) {
            inHand.put(dispatcher.queue(), dispatcher.inHand());
        }
        database.events()
                .tell(new WindlassEvent.Measured(database.store(), queues, activeLeases(), Map.copyOf(inHand)));
        return MINUTE;
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
