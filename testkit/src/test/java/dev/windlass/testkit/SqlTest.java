package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

final class SqlTest {
    private static final DataSource OWN = EmbeddedPostgres.shared().dataSource();

    /** As one with a node that lives on while the tables are emptied. */
    @Test
    void aTransactionThatADeadlockEndedIsRunAgain() throws SQLException {
        AtomicInteger runs = new AtomicInteger();
        try (Connection node = OWN.getConnection();
                Statement statement = node.createStatement()) {
            statement.execute("create table if not exists public.first ()");
            statement.execute("create table if not exists public.second ()");
            node.setAutoCommit(false);
            statement.execute("set local deadlock_timeout = '10 min'"); // so that the other one is the victim
            statement.execute("lock table public.second");

            CompletableFuture<Boolean> emptied =
                    CompletableFuture.supplyAsync(() -> Sql.inTransaction(OWN, "empty", connection -> {
                        runs.incrementAndGet();
                        Sql.execute(connection, "truncate public.first, public.second");
                        return true;
                    }));
            await().until(SqlTest::somebodyWaits);
            statement.execute("lock table public.first");
            node.rollback();

            assertThat(emptied.join()).isTrue();
            assertThat(runs).hasValue(2);
        }
    }

    private static boolean somebodyWaits() throws SQLException {
        try (Connection connection = OWN.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select exists (select from pg_locks where not granted and relation = 'public.second'::regclass)")) {
            row.next();
            return row.getBoolean(1);
        }
    }
}
