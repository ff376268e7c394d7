package dev.windlass.internal.schedule;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.store.SharedConnections;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/** A node that makes runs of jobs and handles topic {@code a}, until its input ends. */
final class JobNode {

    private JobNode() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        try (SharedConnections connections = SharedConnections.atMost(16, 8);
                Windlass windlass = Windlass.on(connections.to(source))
                        .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                        .outbox(OutboxOptions.defaults()
                                .withLease(Duration.ofSeconds(3))
                                .withMaxLeaseExpiries(100))
                        .outboxHandler("a", message -> {})
                        .start()) {
            System.out.println("started " + windlass.isRunning());
            System.out.flush();
            var unused = System.in.read();
        }
    }
}
