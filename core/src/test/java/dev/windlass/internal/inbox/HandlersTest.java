package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.event.WindlassEvent;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Queued messages and their handlers. */
final class HandlersTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final InboxOptions SHORT = InboxOptions.defaults().withLease(Duration.ofSeconds(1));
    private static final HandlerOptions QUICK =
            HandlerOptions.defaults().withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(5), 0));

    private final Queue<String> handled = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void createLedger() throws SQLException {
        database.execute("create table %s.ledger (line text)");
        database.execute("grant select, insert on %s.ledger to windlass_runtime");
    }

    @AfterEach
    void dropLedger() throws SQLException {
        database.closeAll();
        database.execute("drop table %s.ledger");
    }

    private static InboxEntry entry(String id) {
        return InboxEntry.of("orders", id, "a", "payload of " + id);
    }

    private static List<InboxEntry> entries(int count) {
        return IntStream.range(0, count).mapToObj(n -> entry("message " + n)).toList();
    }

    private static long count(String where) {
        return database.value(Long.class, "select count(*) from %s.inbox where " + where);
    }

    private static long lines() {
        return database.value(Long.class, "select count(*) from %s.ledger");
    }

    private static void write(Connection connection, InboxMessage message) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("insert into " + database.schema() + ".ledger values ('"
                    + message.key().messageId() + "')");
        }
    }

    @Test
    void everyMessageIsHandledOnceHoweverOftenItArrives() {
        Windlass windlass =
                database.start(database.windlass().inboxHandler("a", message -> handled.add(message.payload())));
        for (int i = 0; i < 3; i++) {
            windlass.inbox().enqueueAll(entries(100));
        }
        eventually().until(() -> count("status = 2") == 100);
        windlass.inbox().enqueueAll(entries(100));
        assertThat(handled).hasSize(100).doesNotHaveDuplicates();
    }

    @Test
    void aMessageThatFailsIsTriedAgainAndGivenUpInTheEnd() {
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().inboxHandler("a", QUICK, message -> {
            attempts.incrementAndGet();
            throw new IllegalStateException("no");
        }));
        windlass.inbox().enqueue(entry("1"));
        eventually().until(() -> count("status = 3") == 1);
        assertThat(attempts).hasValue(3);
        assertThat(windlass.inbox()
                        .operator("anna")
                        .list(MessageFilter.failed(), 10)
                        .get(0)
                        .lastError())
                .contains("java.lang.IllegalStateException: no");
    }

    @Test
    void aRequeuedMessageIsHandledAtOnce() {
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().inboxHandler("a", message -> {
            if (attempts.incrementAndGet() == 1) {
                throw new PermanentFailure("no");
            }
        }));
        windlass.inbox().enqueue(entry("1"));
        eventually().until(() -> count("status = 3") == 1);
        windlass.inbox().operator("anna").requeue(MessageFilter.failed(), Attempts.RESET);
        eventually().until(() -> count("status = 2 and requeues = 1") == 1);
    }

    @Test
    void payloadsAreDecoded() {
        Windlass windlass = database.start(database.windlass()
                .inboxHandler("a", Integer.class, (number, message) -> handled.add("got " + (number + 1)))
                .inboxHandler("b", QUICK, String.class, (text, message) -> handled.add(text)));
        windlass.inbox().enqueue(InboxEntry.of("orders", "1", "a", "41"));
        windlass.inbox().enqueue(InboxEntry.of("orders", "2", "b", "\"text\""));
        eventually().until(() -> handled.containsAll(List.of("got 42", "text")));
    }

    @Test
    void aMessageOfTheCallersTransactionIsHandledAfterItsCommit() throws Exception {
        Windlass windlass =
                database.start(database.windlass().inboxHandler("a", message -> handled.add(message.payload())));
        windlass.inTransaction(connection -> windlass.inbox().enqueue(connection, entry("1")));
        eventually().until(() -> handled.size() == 1);
    }

    @Test
    void anotherNodesMessagesAreHandled() {
        database.start(database.windlass().inboxHandler("a", message -> handled.add(message.payload())));
        database.passive().inbox().enqueue(entry("1"));
        eventually().until(() -> handled.size() == 1);
    }

    @Test
    void whatAHandlerWritesInItsTransactionIsWrittenOnce() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            Windlass windlass = database.start(database.windlass()
                    .inboxHandlerInTransaction("a", QUICK, (connection, message) -> write(connection, message)));
            windlass.inbox().enqueueAll(entries(200));
            eventually().until(() -> count("status = 2") == 200);
            database.closeAll();
            assertThat(logs.lines()).isEmpty();
        }
        assertThat(lines()).isEqualTo(200);
    }

    @Test
    void whatAHandlerWroteBeforeItFailedIsRolledBack() {
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass =
                database.start(database.windlass().inboxHandlerInTransaction("a", QUICK, (connection, message) -> {
                    write(connection, message);
                    if (attempts.incrementAndGet() < 3) {
                        throw new IllegalStateException("no");
                    }
                }));
        windlass.inbox().enqueue(entry("1"));
        eventually().until(() -> count("status = 2 and retry_count = 2") == 1);
        assertThat(lines()).isEqualTo(1);
    }

    @Test
    void whatAHandlerWritesAfterItsMessageWasTakenFromItIsRolledBack() {
        CountDownLatch taken = new CountDownLatch(1);
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().inboxHandlerInTransaction("a", (connection, message) -> {
            write(connection, message);
            if (attempts.incrementAndGet() == 1) {
                database.execute("update %s.inbox set status = 0, owner_token = null, locked_until = null,"
                        + " lease_expiries = 1, next_attempt_at = clock_timestamp()");
                taken.countDown();
            }
        }));
        windlass.inbox().enqueue(entry("1"));
        eventually().until(() -> taken.getCount() == 0 && count("status = 2") == 1);
        assertThat(attempts).hasValue(2);
        assertThat(lines()).isEqualTo(1);
    }

    /** A heartbeat or an operator's look may have the row for a moment; that is no reason to do the work again. */
    @Test
    void aHandlersTransactionWaitsForARowThatIsLockedForAMoment() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass =
                database.start(database.windlass().inboxHandlerInTransaction("a", QUICK, (connection, message) -> {
                    attempts.incrementAndGet();
                    write(connection, message);
                    lockFor("0.3");
                }));
        windlass.inbox().enqueue(entry("1"));
        eventually().until(() -> count("status = 2") == 1);
        assertThat(attempts).hasValue(1);
        assertThat(lines()).isEqualTo(1);
        assertThat(count("retry_count > 0")).isZero();
    }

    @Test
    void aRowThatIsLockedForLongerCostsNoAttempt() {
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass =
                database.start(database.windlass().inboxHandlerInTransaction("a", QUICK, (connection, message) -> {
                    write(connection, message);
                    if (attempts.incrementAndGet() == 1) {
                        lockFor("2");
                    }
                }));
        windlass.inbox().enqueue(entry("1"));
        eventually().until(() -> count("status = 2") == 1);
        assertThat(attempts.get()).isGreaterThan(1);
        assertThat(lines()).isEqualTo(1);
        assertThat(count("retry_count > 0")).isZero();
    }

    private static void lockFor(String seconds) {
        CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> {
            try {
                database.execute("""
                        do $$ begin
                            perform 1 from %s.inbox for update;
                            perform pg_sleep({seconds});
                        end $$""".replace("{seconds}", seconds));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        eventually()
                .until(() -> database.value(
                        Boolean.class, "select exists (select from pg_stat_activity where wait_event = 'PgSleep')"));
    }

    /** Its lease ran out, and it was taken back and done by somebody else: the late one changes nothing. */
    @Test
    void whatALateHandlerWritesIsRolledBackWhenAnotherHasDoneItsWork() {
        AtomicInteger attempts = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().inboxHandlerInTransaction("a", (connection, message) -> {
            write(connection, message);
            if (attempts.incrementAndGet() == 1) {
                database.execute("update %s.inbox set status = 2, owner_token = gen_random_uuid(), locked_until = null,"
                        + " ended_at = clock_timestamp()");
            }
        }));
        windlass.inbox().enqueue(entry("1"));
        eventually().until(() -> attempts.get() == 1 && count("status = 2") == 1);
        database.closeAll();
        assertThat(lines()).isZero();
        assertThat(attempts).hasValue(1);
    }

    @Test
    void aLeaseThatRanOutIsTakenBackByANode() throws Exception {
        Windlass windlass = database.start(
                database.windlass().inbox(SHORT).inboxHandler("a", message -> handled.add(message.payload())));
        database.execute("""
                with queued as (
                    insert into %s.inbox (source, message_id, id, created_at, next_attempt_at, claimed_at, locked_until, owner_token,
                                          status, topic, payload)
                    values ('orders', '1', gen_random_uuid(), now(), now(), now(), now(), gen_random_uuid(), 1, 'a', 'x')
                    returning id)
                insert into %s.inbox_seen (source, message_id, id, first_seen_at, last_seen_at)
                select 'orders', '1', queued.id, now(), now() from queued""");
        eventually().until(() -> count("status = 2 and lease_expiries = 1") == 1);
        assertThat(windlass.inbox().find("orders", "1")).isPresent();
    }

    /** The second consumer enqueues the redelivery, is told that it is known, and acknowledges it. */
    @Test
    void aMessageIsHandledOnceIfItsFirstConsumerDiesAfterTheRedelivery() {
        Windlass windlass = database.start(database.windlass()
                .inbox(SHORT.withGuardLease(Duration.ofSeconds(1)))
                .inboxHandler("a", message -> handled.add(message.payload())));
        assertThat(windlass.inbox().begin("orders", "1")).isInstanceOf(Begin.Proceed.class);
        assertThat(windlass.inbox().enqueue(entry("1")).isNew()).isFalse();
        eventually().until(() -> count("status = 2 and lease_expiries = 1") == 1);
        assertThat(handled).containsExactly("payload of 1");
    }

    @Test
    void aNodeThatUsesTheInboxForgetsWhatIsOlderThanTheRetentionAndClaimsNothing() throws Exception {
        database.execute("""
                insert into %s.inbox_seen (source, message_id, first_seen_at, last_seen_at, state_at, status)
                select 'orders', n::text, now(), now(), now() - case when n <= 1200 then interval '31 days'
                                                                             else interval '29 days' end, 2
                  from generate_series(1, 1300) n""");
        ProbedDataSource probe = new ProbedDataSource(database.dataSource());
        Windlass windlass = database.start(Windlass.on(probe.source()).options(database.options()));
        eventually().until(() -> probe.saw("\"outbox_clean_after\""));
        assertThat(probe.saw("\"inbox_"))
                .as("a node that does not use the inbox")
                .isFalse();
        windlass.inbox();
        eventually().until(() -> database.value(Long.class, "select count(*) from %s.inbox_seen") == 100);
        assertThat(probe.saw("\"inbox_clean_after\"")).isTrue();
        assertThat(probe.saw("\"inbox_claim\"")).isFalse();
    }

    @Test
    void listenersHearOfOtherContent() {
        Queue<String> keys = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass().listener(event -> {
            if (event instanceof WindlassEvent.ContentDiffers differs) {
                keys.add(differs.store() + " " + differs.source() + " " + differs.messageId());
            }
        }));
        windlass.inbox().enqueue(entry("1").withHash(ContentHash.of("a")));
        windlass.inbox().enqueue(entry("1").withHash(ContentHash.of("b")));
        windlass.inbox().begin("orders", "1", ContentHash.of("c"));
        eventually().until(() -> keys.size() == 2);
        assertThat(keys).containsOnly("windlass orders 1");
    }

    @Test
    void aTopicHasOneHandler() {
        WindlassBuilder builder = database.windlass().inboxHandler("a", message -> {});
        assertThatThrownBy(() -> builder.inboxHandlerInTransaction("a", (connection, message) -> {}))
                .hasMessage("expected one inbox handler for topic a, got a second");
        assertThat(builder.outboxHandler("a", message -> {})).isNotNull();
    }
}
