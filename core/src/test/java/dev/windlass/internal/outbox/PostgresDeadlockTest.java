package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Deadlocks that others cause: a program that locks messages by hand, in the wrong order, or whose trigger on the table of messages
 * waits for locks of its own. The verbs of the runtime wait for no message; so only the latter can get them into one.
 */
@Timeout(120)
final class PostgresDeadlockTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final RetryPolicy QUICK = new RetryPolicy(10, Duration.ofMillis(1), Duration.ofMillis(10), 0);

    private final AtomicInteger calls = new AtomicInteger();
    private final CountDownLatch renewed = new CountDownLatch(1);

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
                    CompletableFuture.supplyAsync(() -> operator.requeue(failed, Attempts.RESET));
            eventually().until(PostgresDeadlockTest::somebodyWaitsForALock);
            lock(statement, ids.get(0));
            intruder.commit();

            assertThat(requeued.join()).isEqualTo(2);
            assertThat(logs.count(Level.DEBUG, "deadlock detected")).isPositive();
        }
        assertThat(database.count("status = 0")).isEqualTo(2);
    }

    /** What a runtime does to a message, by what changes in its row; what has become of it in the end, and after how many calls. */
    private enum Verb {
        CLAIM("old.status = 0 and new.status = 1", "status = 2 and retry_count = 0", 1, 0),
        HEARTBEAT("old.locked_until < new.locked_until", "status = 2 and retry_count = 0", 1, 0),
        ACK("new.status = 2", "status = 2 and retry_count = 0", 1, 0),
        ABANDON("old.status = 1 and new.status = 0", "status = 2 and retry_count = 1", 2, 1),
        FAIL("new.status = 3", "status = 3 and retry_count = 0 and last_error like '%broken'", 1, 1);

        private final String change;
        private final String end;
        private final int calls;
        private final int failures;

        Verb(String change, String end, int calls, int failures) {
            this.change = change;
            this.end = end;
            this.calls = calls;
            this.failures = failures;
        }
    }

    /** The intruder holds a row of the business's and wants the message; the verb has the message, and its trigger wants that row. */
    @ParameterizedTest
    @EnumSource
    @Shows("OBX-099")
    void aVerbOfTheRuntimeThatADeadlockEndedIsRepeatedAndTheMessageNotBlamed(Verb verb) throws Exception {
        createTheTrigger(verb.change);
        try (Logs logs = Logs.collect(Level.DEBUG);
                Connection intruder = database.owner().getConnection();
                Statement statement = intruder.createStatement()) {
            intruder.setAutoCommit(false);
            statement.execute("set local deadlock_timeout = '10 min'"); // so that the verb is the victim
            statement.execute("set local application_name = 'intruder'");
            statement.execute("select 1 from \"" + database.schema() + "\".stock for update");
            Outbox outbox = database.start(database.windlass()
                            .outbox(OutboxOptions.defaults()
                                    .withLease(Duration.ofSeconds(6))
                                    .withBatchSize(1)) // one that cannot be claimed alone is set aside
                            .outboxHandler("a", HandlerOptions.defaults().withRetry(QUICK), message -> handle(verb)))
                    .outbox();
            OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> database.value(Boolean.class, "select is_called from %s.tries"));
            lock(statement, new OutboxWorkItemIdentifier(id.value()));
            intruder.commit();

            eventually()
                    .until(() -> database.count("locked_until > claimed_at + interval '6 s'") == 1
                            || verb != Verb.HEARTBEAT);
            renewed.countDown();
            eventually().until(() -> database.count(verb.end + " and lease_expiries = 0") == 1);
            assertThat(calls).hasValue(verb.calls);
            assertThat(outbox.failures(id)).hasSize(verb.failures);
            assertThat(database.value(Boolean.class, "select is_called from %s.deadlocks"))
                    .isTrue();
            assertThat(logs.lines())
                    .anyMatch(line ->
                            line.text().contains("deadlock detected (SQLSTATE 40P01)") || verb == Verb.HEARTBEAT)
                    .noneMatch(line -> line.text().contains("refuses the outcome"));
        } finally {
            database.execute("drop table %s.stock");
            database.execute("drop function %s.take_stock() cascade");
            database.execute("drop sequence %s.tries, %s.deadlocks");
        }
    }

    private void handle(Verb verb) throws InterruptedException {
        int call = calls.incrementAndGet();
        switch (verb) {
            case HEARTBEAT -> renewed.await();
            case ABANDON -> {
                if (call == 1) {
                    throw new IllegalStateException("broken");
                }
            }
            case FAIL -> throw new PermanentFailure("broken");
            case CLAIM, ACK -> {}
        }
    }

    /** The first time it waits until the intruder waits for the message, so that the deadlock is certain. */
    private static void createTheTrigger(String change) throws SQLException {
        database.execute("create sequence %s.tries");
        database.execute("create sequence %s.deadlocks"); // no rollback takes back what it counted
        database.execute("create table %s.stock as select 1 as id");
        database.execute("""
                create function %s.take_stock() returns trigger language plpgsql security definer
                    set lock_timeout = 0 set deadlock_timeout = '10ms' as $$
                begin
                    if nextval('%s.tries') = 1 then
                        while not exists (select from pg_stat_activity a
                                           where a.application_name = 'intruder'
                                             and pg_backend_pid() = any (pg_blocking_pids(a.pid))) loop
                            perform pg_sleep(0.01);
                        end loop;
                    end if;
                    perform 1 from %s.stock for update;
                    return null;
                exception
                    when deadlock_detected then
                        perform nextval('%s.deadlocks');
                        raise;
                end $$""");
        database.execute("create trigger takes_stock after update on %s.outbox for each row when (" + change
                + ") execute function %s.take_stock()");
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
