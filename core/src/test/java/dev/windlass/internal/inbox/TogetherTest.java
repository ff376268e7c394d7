package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.node.Pools;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages that are handled together, in one transaction. */
final class TogetherTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final int MOST = 20;
    private static final HandlerOptions QUICK =
            HandlerOptions.defaults().withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(5), 0));

    private final Queue<Integer> sizes = new ConcurrentLinkedQueue<>();

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

    /** Before there is a node, so that they come together. */
    private static void enqueue(int count) {
        database.passive()
                .inbox()
                .enqueueAll(IntStream.range(0, count)
                        .mapToObj(n -> InboxEntry.of("orders", "message " + n, "a", "payload " + n))
                        .toList());
    }

    private Windlass start(HandlerOptions options, InboxHandler.TogetherInTransaction handler) {
        return database.start(database.windlass()
                .inbox(InboxOptions.defaults().withLease(Duration.ofSeconds(2)).withConcurrency(2))
                .inboxHandlerInTransaction("a", MOST, options, (connection, messages) -> {
                    sizes.add(messages.size());
                    write(connection, messages);
                    handler.handle(connection, messages);
                }));
    }

    private static void write(Connection connection, List<InboxMessage> messages) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("insert into " + database.schema() + ".ledger values (?)")) {
            for (InboxMessage message : messages) {
                insert.setString(1, message.payload());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private static long count(String where) {
        return database.value(Long.class, "select count(*) from %s.inbox where " + where);
    }

    private static void expectLines(int count) {
        assertThat(database.value(Long.class, "select count(*) from %s.ledger")).isEqualTo(count);
        assertThat(database.value(Long.class, "select count(distinct line) from %s.ledger"))
                .isEqualTo(count);
    }

    @Test
    void manyAreEndedByOneTransaction() {
        enqueue(300);
        start(QUICK, (connection, messages) -> {});
        eventually().until(() -> count("status = 2") == 300);
        expectLines(300);
        assertThat(sizes).allMatch(size -> size <= MOST).hasSizeLessThan(100);
    }

    /** The snapshot of such a transaction is older than the renewal of the lease. */
    @Test
    void aHandlerInTooStrictATransactionIsToldWhatToDo() {
        enqueue(1);
        try (HikariDataSource strict = Pools.of(
                database.unpooled(), 5, config -> config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ"))) {
            Windlass windlass = Windlass.on(strict)
                    .options(database.options())
                    .inbox(InboxOptions.defaults().withLease(Duration.ofSeconds(1)))
                    .inboxHandlerInTransaction("a", QUICK, (connection, message) -> {
                        write(connection, List.of(message));
                        eventually().until(() -> count("locked_until > claimed_at + interval '1.1 s'") == 1);
                    })
                    .start();
            eventually().until(() -> count("status = 3") == 1);
            windlass.close();
        }
        assertThat(database.value(String.class, "select last_error from %s.inbox"))
                .contains("read committed");
        expectLines(0);
    }

    @Test
    void onlyTheOneAtFaultFails() {
        enqueue(100);
        start(QUICK, (connection, messages) -> {
            if (messages.stream().anyMatch(message -> message.payload().equals("payload 33"))) {
                throw new PermanentFailure("no");
            }
        });
        eventually().until(() -> count("status = 2 and retry_count = 0") == 99 && count("status = 3") == 1);
        expectLines(99);
        assertThat(sizes).anyMatch(size -> size > 1);
    }

    @Test
    void oneThatTheCommitRefusesFailsAlone() throws SQLException {
        database.execute("""
                create function %s.refuse() returns trigger language plpgsql as $$
                begin
                    if new.line = 'payload 7' then
                        raise exception 'not this one';
                    end if;
                    return null;
                end $$""");
        database.execute("create constraint trigger refuse after insert on %s.ledger deferrable initially deferred"
                + " for each row execute function %s.refuse()");
        enqueue(40);
        start(QUICK, (connection, messages) -> {});
        eventually().until(() -> count("status = 2 and retry_count = 0") == 39 && count("status = 3") == 1);
        expectLines(39);
        database.execute("drop function %s.refuse() cascade");
    }

    @Test
    void oneThatIsTakenAwayLosesNoOther() {
        AtomicBoolean taken = new AtomicBoolean();
        enqueue(40);
        start(QUICK, (connection, messages) -> {
            if (messages.size() > 1 && taken.compareAndSet(false, true)) {
                database.execute("update %s.inbox set status = 2, owner_token = gen_random_uuid(), locked_until = null,"
                        + " ended_at = clock_timestamp() where id = '"
                        + messages.get(1).id().value() + "'");
            }
        });
        eventually().until(() -> count("status = 2") == 40);
        database.closeAll();
        expectLines(39);
        assertThat(count("retry_count > 0")).isZero();
    }

    @Test
    void aCallThatTakesTooLongIsHeldAgainstNobody() {
        enqueue(30);
        start(QUICK.withTimeout(Duration.ofMillis(200)), (connection, messages) -> {
            if (messages.size() > 1) {
                TimeUnit.MINUTES.sleep(1);
            }
        });
        eventually().until(() -> count("status = 2") == 30);
        expectLines(30);
        assertThat(count("retry_count > 0")).isZero();
    }

    /** It goes on, and commits at last: too late for all of them. */
    @Test
    void theOthersOfACallThatNeverReturnsAreHandled() {
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean hung = new AtomicBoolean();
        AtomicBoolean returned = new AtomicBoolean();
        enqueue(10);
        start(QUICK.withTimeout(Duration.ofMillis(200)), (connection, messages) -> {
            if (messages.size() > 1 && hung.compareAndSet(false, true)) {
                awaitStubbornly(end);
                returned.set(true);
            }
        });
        eventually().until(() -> count("status = 2") == 10);
        end.countDown();
        eventually().untilTrue(returned);
        database.closeAll();
        expectLines(10);
    }

    /** One may be given up, and two never return: what the second has taken along must not wait for it. */
    @Test
    void theOthersOfACallThatCannotBeGivenUpAreHandledByAnotherNode() {
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger hung = new AtomicInteger();
        enqueue(60);
        InboxOptions options = InboxOptions.defaults().withLease(Duration.ofSeconds(2));
        database.start(database.windlass()
                .inbox(options.withConcurrency(1))
                .inboxHandlerInTransaction(
                        "a", MOST, QUICK.withTimeout(Duration.ofMillis(200)), (connection, messages) -> {
                            if (hung.incrementAndGet() <= 2) {
                                awaitStubbornly(end);
                            }
                        }));
        eventually().until(() -> hung.get() == 2);
        database.start(database.windlass()
                .inbox(options)
                .inboxHandlerInTransaction("a", MOST, QUICK, (connection, messages) -> {}));
        eventually().until(() -> count("status = 2") == 60);
        end.countDown();
    }

    private static void awaitStubbornly(CountDownLatch end) {
        boolean over = false;
        while (!over) {
            try {
                end.await();
                over = true;
            } catch (InterruptedException e) {
                over = false; // that is what it is about
            }
        }
    }

    @Test
    void aShutdownGivesAllOfThemBackAndCountsNoAttempt() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        enqueue(10);
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withShutdownGrace(Duration.ofMillis(100)))
                .inbox(InboxOptions.defaults().withConcurrency(1))
                .inboxHandlerInTransaction("a", MOST, (connection, messages) -> {
                    begun.countDown();
                    write(connection, messages);
                    TimeUnit.MINUTES.sleep(1);
                }));
        begun.await();
        windlass.close();
        assertThat(count("status = 0 and retry_count = 0 and lease_expiries = 0"))
                .isEqualTo(10);
        expectLines(0);
    }

    @Test
    void aTransactionHasOneMessageAtLeast() {
        assertThatThrownBy(() -> database.windlass().inboxHandlerInTransaction("a", 0, (connection, messages) -> {}))
                .hasMessage("expected a positive number of messages in a transaction, got 0");
    }
}
