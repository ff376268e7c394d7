package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.lease.Lease;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a loop is refused, it says so, and does not say what the database quotes. */
final class QuotedRowsInLoopsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String SECRET = "s3cr3t";
    private static final String PAYLOAD = "payload " + SECRET;

    private final CountDownLatch goOn = new CountDownLatch(1);

    /**
     * A trigger of the user's that refuses one step of a loop.
     *
     * @param said what the loop says then
     */
    private record Refusal(String table, String step, String said) {
        @Override
        public String toString() {
            return step + " of " + table;
        }
    }

    static Stream<Refusal> refusals() {
        String renewal = "(old.status = 1 and new.status = 1)";
        return Stream.of(
                new Refusal("outbox", "before update when (new.status = 1)", "[windlass] the database refuses a claim"),
                new Refusal(
                        "outbox",
                        "before update when (new.status = 2)",
                        "[windlass] the database refuses the outcome of"),
                new Refusal("outbox", "before update when " + renewal, "[windlass] renewing leases failed"),
                new Refusal(
                        "outbox",
                        "before update when (old.status = 1 and new.status = 0)",
                        "[windlass] reaping failed"),
                new Refusal("outbox", "before update when (new.status = 3)", "[windlass] expiring failed"),
                new Refusal("outbox", "before delete", "[windlass] cleaning failed"),
                new Refusal(
                        "inbox",
                        "before update when (new.status = 1)",
                        "[windlass inbox] the database refuses a claim"),
                new Refusal(
                        "inbox",
                        "before update when (new.status = 2)",
                        "[windlass inbox] the database refuses the outcome of"),
                new Refusal("inbox", "before update when " + renewal, "[windlass inbox] renewing leases failed"),
                new Refusal("inbox", "before delete", "[windlass inbox] cleaning failed"),
                new Refusal("outbox_job_run", "before delete", "[windlass schedule] cleaning runs failed"),
                new Refusal("lease", "before update", "could not renew 1 leases"));
    }

    @AfterEach
    void release() throws SQLException {
        goOn.countDown();
        database.closeAll();
        database.execute("drop function if exists %s.quote_row cascade");
    }

    private static void refuse(Refusal refusal) throws SQLException {
        database.execute(Quoting.function(
                "raise exception '" + SECRET + ": %', v_row using errcode = '55000', detail = v_row, hint = v_row"));
        String event = refusal.step.replaceFirst(" when .*", "");
        String when = refusal.step.contains(" when ") ? refusal.step.replaceFirst(".* when ", " when ") : "";
        database.execute("create trigger quote_row " + event + " on %s." + refusal.table + " for each row" + when
                + " execute function %s.quote_row()");
    }

    @ParameterizedTest
    @MethodSource("refusals")
    @Shows("OBX-125")
    void aLoopThatIsRefusedTellsNothingThatTheDatabaseQuotes(Refusal refusal) throws Exception {
        leaveWork();
        refuse(refusal);
        try (Logs logs = Logs.collect(Level.TRACE)) {
            Windlass windlass = database.start(database.windlass()
                    .outbox(database.shortLease())
                    .inbox(InboxOptions.defaults().withLease(Duration.ofSeconds(1)))
                    .schedule(ScheduleOptions.defaults().withLease(Duration.ofSeconds(1)))
                    .outboxHandler("quick", message -> {})
                    .outboxHandler("slow", message -> goOn.await())
                    .inboxHandler("quick", message -> {})
                    .inboxHandler("slow", message -> goOn.await()));
            try (Lease lease =
                    windlass.leases().tryAcquire("a", Duration.ofSeconds(1)).orElseThrow()) {
                assertThat(lease.name()).isEqualTo("a");
                eventually().until(() -> logs.count(Level.WARN, refusal.said) > 0);
                eventually()
                        .until(() -> logs.lines().stream()
                                .anyMatch(line -> line.text().contains(refusal.said)
                                        && line.text().contains("SQLSTATE 55000")));
            }
            goOn.countDown();
            windlass.close();
            assertThat(logs.lines()).noneMatch(line -> line.text().contains(SECRET));
        }
    }

    /** A timer that cannot become a message is no failure of the loop: it is put off, and says why. */
    @Test
    void aTimerThatIsRefusedNotesNothingThatTheDatabaseQuotes() throws Exception {
        leaveWork();
        refuse(new Refusal("outbox_timer", "before delete", ""));
        try (Logs logs = Logs.collect(Level.TRACE)) {
            database.start(database.windlass());
            eventually()
                    .until(() -> database.value(
                                    Long.class,
                                    "select count(*) from %s.outbox_timer where last_error like '%SQLSTATE 55000%'")
                            == 2);
            assertThat(database.value(
                            Long.class,
                            "select count(*) from %s.outbox_timer where strpos(last_error, '" + SECRET + "') > 0"))
                    .isZero();
            assertThat(logs.lines()).noneMatch(line -> line.text().contains(SECRET));
        }
    }

    /** Something for each step of each loop. */
    private static void leaveWork() throws SQLException {
        Windlass windlass = database.passive();
        for (String topic : new String[] {"quick", "slow"}) {
            windlass.outbox().enqueue(OutboxEntry.of(topic, PAYLOAD));
            windlass.inbox().enqueue(InboxEntry.of("orders", topic, topic, PAYLOAD));
        }
        for (String name : new String[] {"one", "other"}) { // what is refused for one alone is not the loop's trouble
            windlass.timers().schedule(TimerEntry.of("quick", PAYLOAD, Duration.ZERO));
            windlass.jobs()
                    .save(Job.every(name, Duration.ofSeconds(1))
                            .withTopic("quick")
                            .withPayload(PAYLOAD));
        }
        database.execute("""
                insert into %s.outbox (id, created_at, next_attempt_at, topic, payload, status, ended_at, owner_token,
                                       claimed_at, locked_until, expires_at)
                values (gen_random_uuid(), 'epoch', 'epoch', 'old', 's3cr3t', 2, 'epoch', null, null, null, null),
                       (gen_random_uuid(), 'epoch', 'epoch', 'old', 's3cr3t', 1, null, gen_random_uuid(), 'epoch', 'epoch', null),
                       (gen_random_uuid(), 'epoch', 'epoch', 'old', 's3cr3t', 0, null, null, null, null, 'epoch');
                insert into %s.inbox (source, message_id, id, created_at, next_attempt_at, topic, payload, status, ended_at)
                values ('old', '1', gen_random_uuid(), 'epoch', 'epoch', 'old', 's3cr3t', 2, 'epoch');
                insert into %s.outbox_job_run (id, source, topic, payload, tick_at, triggered, created_at, next_attempt_at, status, ended_at,
                                               last_error)
                values (gen_random_uuid(), 'gone', 'old', 's3cr3t', 'epoch', false, 'epoch', 'epoch', 3, 'epoch', 's3cr3t')""");
        database.closeAll();
    }

    @Test
    void theErrorOfAHandlersOwnStatementIsToldWithoutTheRow() throws Exception {
        database.execute("create table %s.customer (email text, constraint customer_email unique (email))");
        database.execute("grant insert on %s.customer to windlass_runtime");
        HandlerOptions once =
                HandlerOptions.defaults().withRetry(RetryPolicy.defaults().withMaxAttempts(1));
        String insert = "insert into \"" + database.schema() + "\".customer values ('" + SECRET + "')";
        database.execute("insert into %s.customer values ('" + SECRET + "')");
        try (Logs logs = Logs.collect(Level.TRACE)) {
            Windlass windlass = database.start(database.windlass()
                    .outboxHandler("plain", once, message -> insert(insert))
                    .outboxHandler("wrapped", once, message -> {
                        try {
                            insert(insert);
                        } catch (SQLException e) {
                            throw new IllegalStateException("no customer: " + e.getMessage(), e);
                        }
                    })
                    .inboxHandlerInTransaction("inTransaction", once, (connection, message) -> {
                        try (var statement = connection.createStatement()) {
                            statement.execute(insert);
                        }
                    }));
            windlass.outbox().enqueue(OutboxEntry.of("plain", "x"));
            windlass.outbox().enqueue(OutboxEntry.of("wrapped", "x"));
            windlass.inbox().enqueue(InboxEntry.of("a", "1", "inTransaction", "x"));
            eventually().until(() -> database.count("status = 3") == 2);
            eventually().until(() -> logs.at(Level.ERROR).size() == 3);

            assertThat(logs.at(Level.ERROR))
                    .allSatisfy(line -> assertThat(line)
                            .contains("SQLSTATE 23505", "constraint \"customer_email\"")
                            .doesNotContain(SECRET));
            assertThat(logs.count(Level.ERROR, "java.lang.IllegalStateException: no customer: "))
                    .isEqualTo(1);
            assertThat(database.count("last_error like '%SQLSTATE 23505%customer_email%'"))
                    .isEqualTo(2);
            assertThat(database.count("strpos(last_error, '" + SECRET + "') > 0"))
                    .isZero();
        } finally {
            database.closeAll();
            database.execute("drop table %s.customer");
        }
    }

    private static void insert(String sql) throws SQLException {
        try (var connection = database.dataSource().getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
