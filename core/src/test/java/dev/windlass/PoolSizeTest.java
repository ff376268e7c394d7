package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/** A pool that is too small for what a node keeps is told at the start. */
final class PoolSizeTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static HikariDataSource pool(int size) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(database.unpooled());
        pool.setMaximumPoolSize(size);
        return pool;
    }

    private static WindlassBuilder both(javax.sql.DataSource source) {
        return Windlass.on(source)
                .options(database.options())
                .outboxHandler("a", message -> {})
                .inboxHandler("a", message -> {});
    }

    private static long warnings(WindlassBuilder builder) {
        try (Logs logs = Logs.collect(Level.INFO)) {
            builder.start().close();
            return logs.count(Level.WARN, "needs 3 connections for itself (1 is kept, 2 are used for moments)");
        }
    }

    @Test
    void aNodeSaysHowManyConnectionsItNeedsIfItsPoolHasFewer() {
        try (HikariDataSource small = pool(2);
                HikariDataSource enough = pool(3)) {
            assertThat(warnings(both(small))).isEqualTo(1);
            assertThat(warnings(both(enough))).isZero();
            assertThat(warnings(both(new TransactionAwareDataSourceProxy(small))))
                    .isEqualTo(1);
        }
    }

    @Test
    void whatIsKeptMayComeFromElsewhereAndANodeThatOnlyWritesKeepsNothing() {
        try (HikariDataSource small = pool(2);
                HikariDataSource kept = pool(1)) {
            assertThat(warnings(both(small).backgroundDataSource(kept))).isZero();
            assertThat(warnings(both(small).options(database.options().withBackgroundWorkers(false))))
                    .isZero();
        }
    }
}
