package dev.windlass;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.internal.engine.PostgresDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Connections of a pool that the server ends in the middle of a transaction. */
final class LostConnectionTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void callerOfATransactionLearnsWhatEndedIt() {
        Windlass windlass = database.passive();
        assertThatThrownBy(() -> windlass.inTransaction(connection ->
                        connection.createStatement().execute("select pg_terminate_backend(pg_backend_pid())")))
                .asInstanceOf(type(SQLException.class))
                .extracting(SQLException::getSQLState)
                .isEqualTo("57P01");
    }

    @Test
    void migrationIsTriedAgain() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.owner());
        String waiting = "wait_event_type = 'Lock' and query like '%pg_advisory_xact_lock%'";
        try (HikariDataSource pool = new HikariDataSource(config);
                Connection other = database.owner().getConnection()) {
            other.setAutoCommit(false);
            new PostgresDialect().lockForMigration(other, database.schema());
            CompletableFuture<Void> migration = CompletableFuture.runAsync(() ->
                    Windlass.on(pool).options(database.options()).migrator().migrate());
            await().until(() ->
                    database.value(Long.class, "select count(*) from pg_stat_activity where " + waiting) == 1);
            database.execute("select pg_terminate_backend(pid) from pg_stat_activity where " + waiting);
            other.rollback();
            migration.get(30, TimeUnit.SECONDS);
        }
    }
}
