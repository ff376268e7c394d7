package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.lease.Lease;
import dev.windlass.lease.Leases;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * A table that takes writes only from the newest holder of a lease: each write brings its fencing token, and a smaller one
 * than the table has seen is refused.
 *
 * <p>Here a write of the first holder arrives after the lease has gone to the second, as one does that was stuck in a network,
 * or behind a pause of the whole process. No lease can prevent that; the token does.
 */
public final class Settlement {
    private final DataSource dataSource;

    Settlement(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    public static void main(String[] args) throws SQLException {
        DataSource dataSource = EmbeddedPostgres.shared().dataSource(); // in production: your pool
        Settlement settlement = new Settlement(dataSource);
        settlement.createTable();

        try (Windlass windlass = Windlass.on(dataSource).ensureSchema().start()) {
            long first = settle(windlass.leases(), settlement, "first");
            settle(windlass.leases(), settlement, "second");

            boolean taken = settlement.write("late write of the first", first);
            System.out.println(taken ? "taken, which must not be" : "refused the late write of the first");
        }
    }

    private static long settle(Leases leases, Settlement settlement, String who) throws SQLException {
        try (Lease lease =
                leases.tryAcquire("settlement", Duration.ofSeconds(30)).orElseThrow()) {
            if (settlement.write(who, lease.fencingToken())) {
                System.out.println("settled by the " + who);
            }
            return lease.fencingToken();
        }
    }

    // tag::fenced-write
    /** Returns whether it was written; if not, somebody else has the lease by now. */
    boolean write(String result, long fencingToken) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement update = connection.prepareStatement(
                        "update settlement set result = ?, fencing_token = ? where fencing_token <= ?")) {
            update.setString(1, result);
            update.setLong(2, fencingToken);
            update.setLong(3, fencingToken);
            return update.executeUpdate() == 1;
        }
    }
    // end::fenced-write

    private void createTable() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("""
                    drop table if exists settlement;
                    create table settlement (result text not null, fencing_token bigint not null);
                    insert into settlement values ('', 0)""");
        }
    }
}
