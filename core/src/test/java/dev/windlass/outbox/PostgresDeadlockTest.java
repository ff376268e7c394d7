package dev.windlass.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.OwnerToken;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A deadlock that others cause: a program that locks messages by hand, in the wrong order. */
final class PostgresDeadlockTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    @Shows("OBX-099")
    void aCallThatADeadlockEndedIsRepeated() throws SQLException {
        Outbox outbox = database.passive().outbox();
        outbox.enqueueAll(List.of(OutboxEntry.of("topic", ""), OutboxEntry.of("topic", "")));
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids = outbox.claim(owner, Duration.ofMinutes(5), 10).stream()
                .map(OutboxMessage::id)
                .sorted((one, other) ->
                        one.value().toString().compareTo(other.value().toString()))
                .toList();

        outbox.fail(owner, ids, "no");
        List<OutboxMessageIdentifier> failed =
                ids.stream().map(id -> new OutboxMessageIdentifier(id.value())).toList();
        OutboxOperator operator = outbox.operator("anna");

        try (Logs logs = Logs.collect(Level.DEBUG);
                Connection intruder = database.owner().getConnection();
                Statement statement = intruder.createStatement()) {
            intruder.setAutoCommit(false);
            statement.execute("set local deadlock_timeout = '10 min'"); // so that the other one is the victim
            lock(statement, ids.get(1));
            CompletableFuture<Integer> requeued =
                    CompletableFuture.supplyAsync(() -> operator.requeue(failed, OutboxOperator.Attempts.RESET));
            eventually().until(PostgresDeadlockTest::somebodyWaitsForALock);
            lock(statement, ids.get(0));
            intruder.commit();

            assertThat(requeued.join()).isEqualTo(2);
            assertThat(logs.count(Level.DEBUG, "deadlock detected")).isPositive();
        }
        assertThat(database.count("status = 0")).isEqualTo(2);
    }

    private static void lock(Statement statement, OutboxWorkItemIdentifier id) throws SQLException {
        statement.execute(
                "select 1 from \"" + database.schema() + "\".outbox where id = '" + id.value() + "' for update");
    }

    private static boolean somebodyWaitsForALock() {
        return database.value(
                Boolean.class,
                "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%outbox_requeue%')");
    }
}
