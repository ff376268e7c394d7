package dev.windlass.internal.lease;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.lease.Lease;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The program of a child process: takes the lease {@code a}, and writes to a resource that knows fencing tokens, until it has
 * lost it; then once more, as a careless program does. Tells what it does, line by line.
 */
public final class HolderNode {

    private HolderNode() {}

    public static void main(String[] arguments) throws SQLException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        String schema = arguments[2];
        Duration duration = Duration.ofMillis(Long.parseLong(arguments[3]));
        try (Windlass windlass = Windlass.on(source)
                        .options(WindlassOptions.defaults()
                                .withSchemaName(schema)
                                .withBackgroundWorkers(false)
                                .withNodeName("child"))
                        .start();
                Lease lease = windlass.leases().tryAcquire("a", duration).orElseThrow();
                Connection connection = source.getConnection()) {
            say("token " + lease.fencingToken());
            boolean lost;
            do {
                lost = lease.isLost();
                say(write(connection, schema, lease.fencingToken()) ? "written" : "refused");
                LockSupport.parkNanos(10_000_000);
            } while (!lost);
            say("lost");
        }
    }

    private static boolean write(Connection connection, String schema, long token) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(
                "update \"" + schema + "\".resource set token = ?, writes = writes + 1 where token <= ?")) {
            update.setLong(1, token);
            update.setLong(2, token);
            return update.executeUpdate() == 1;
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
