package dev.windlass.internal.schedule;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.store.SharedConnections;
import org.postgresql.ds.PGSimpleDataSource;

/** A node that hands timers off, a few in each transaction, until its input ends. */
final class TimerNode {

    private TimerNode() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        try (SharedConnections connections = SharedConnections.atMost(16, 8);
                Windlass windlass = Windlass.on(connections.to(source))
                        .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                        .schedule(ScheduleOptions.defaults().withBatchSize(3))
                        .start()) {
            System.out.println("started " + windlass.isRunning());
            System.out.flush();
            var unused = System.in.read();
        }
    }
}
