package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.lease.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The connection on which leases are renewed. */
final class RenewalConnectionTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofSeconds(3);

    private static HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooled());
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(1_000);
        return new HikariDataSource(config);
    }

    private static Windlass node(HikariDataSource pool) {
        return Windlass.on(pool)
                .options(database.options().withBackgroundWorkers(false))
                .start();
    }

    @Test
    void workThatUsesUpThePoolCostsNoLease() throws Exception {
        try (HikariDataSource pool = pool(3);
                Windlass windlass = node(pool)) {
            Lease lease = windlass.leases().tryAcquire("a", LEASE).orElseThrow();
            Instant first = lease.expiresAt();
            eventually().until(() -> lease.expiresAt().isAfter(first));
            List<Connection> all = takeAll(pool);
            try {
                Instant end = lease.expiresAt().plus(LEASE);
                eventually().until(() -> lease.isLost() || lease.expiresAt().isAfter(end));

                assertThat(lease.isLost()).isFalse();
            } finally {
                for (Connection each : all) {
                    each.close();
                }
            }
        }
    }

    /** All that the pool still gives. */
    private static List<Connection> takeAll(HikariDataSource pool) throws SQLException {
        List<Connection> all = new ArrayList<>();
        try {
            while (all.size() < pool.getMaximumPoolSize()) {
                all.add(pool.getConnection());
            }
        } catch (SQLTransientConnectionException e) {
            assertThat(pool.getHikariPoolMXBean().getIdleConnections()).isZero();
        }
        return all;
    }

    @Test
    void theConnectionGoesBackToThePoolWhenNoLeaseIsHeld() {
        try (HikariDataSource pool = pool(2);
                Windlass windlass = node(pool)) {
            Lease lease = windlass.leases().tryAcquire("a", LEASE).orElseThrow();
            eventually().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 1);

            lease.close();

            eventually().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        }
    }

    @Test
    void aNodeThatUsesNoLeasesHoldsNoConnection() {
        try (HikariDataSource pool = pool(2);
                Windlass windlass = node(pool)) {
            assertThat(windlass.leases().list()).isEmpty();
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }
}
