package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Child;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

final class ShutdownTest {
    private static final String UNTOUCHED = "status = 0 and retry_count = 0 and lease_expiries = 0";

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final CountDownLatch goOn = new CountDownLatch(1);

    private static List<OutboxEntry> entries(int count) {
        return IntStream.range(0, count)
                .mapToObj(n -> OutboxEntry.of("a", "x" + n))
                .toList();
    }

    @Test
    void handlersThatRunMayFinish() {
        CountDownLatch running = new CountDownLatch(3);
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withShutdownGrace(Duration.ofMinutes(1)))
                .outboxHandler("a", message -> {
                    running.countDown();
                    goOn.await();
                }));
        windlass.outbox().enqueueAll(entries(3));
        eventually().until(() -> running.getCount() == 0);
        Thread closer = new Thread(windlass::close);
        closer.start();
        eventually().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
        goOn.countDown();
        eventually().until(() -> !closer.isAlive());
        assertThat(database.count("status = 2")).isEqualTo(3);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "no signal there lets a process end in an orderly way")
    void aServiceThatIsToldToEndLetsItsHandlersFinishFirst() throws Exception {
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        try (Child service = Child.start(HookedNode.class, database)) {
            eventually().until(() -> service.said("at work"));
            service.terminate();
            eventually().until(() -> service.said("told to end"));
            service.goOn();
            eventually().until(() -> !service.isAlive());
        }
        assertThat(database.count("status = 2 and retry_count = 0")).isEqualTo(1);
    }

    @Test
    void theOutboxTakesNothingMoreWhileHandlersOfTheInboxFinish() {
        CountDownLatch running = new CountDownLatch(1);
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withShutdownGrace(Duration.ofMinutes(1)))
                .outboxHandler("a", message -> {})
                .inboxHandler("b", message -> {
                    running.countDown();
                    goOn.await();
                }));
        windlass.inbox().enqueue(InboxEntry.of("source", "1", "b", "x"));
        eventually().until(() -> running.getCount() == 0);
        Thread closer = new Thread(windlass::close);
        closer.start();
        eventually()
                .until(() -> Stream.of(closer.getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals("awaitQuiet")));
        database.passive().outbox().enqueueAll(entries(3));
        goOn.countDown();
        eventually().until(() -> !closer.isAlive());
        assertThat(database.count(UNTOUCHED)).isEqualTo(3);
    }

    @RepeatedTest(5)
    void everyOutcomeIsWrittenAndTheRestIsGivenBackWithoutCostingAnAttempt() {
        AtomicInteger done = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withShutdownGrace(Duration.ofSeconds(10)))
                .outboxHandler("a", message -> {
                    LockSupport.parkNanos(500_000);
                    done.incrementAndGet();
                }));
        windlass.outbox().enqueueAll(entries(1000));
        eventually().until(() -> done.get() > 100);
        windlass.close();
        assertThat(database.count("status = 2")).isEqualTo(done.get());
        assertThat(database.count(UNTOUCHED)).isEqualTo(1000 - done.get());
    }

    @Test
    void handlersThatDoNotFinishInTimeAreInterruptedAndTheirMessagesGivenBack() {
        CountDownLatch running = new CountDownLatch(2);
        AtomicBoolean stubborn = new AtomicBoolean(true);
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withShutdownGrace(Duration.ofMillis(50)))
                .outbox(OutboxOptions.defaults().withConcurrency(2))
                .outboxHandler("polite", message -> {
                    running.countDown();
                    goOn.await();
                })
                .outboxHandler("stubborn", message -> {
                    running.countDown();
                    while (stubborn.get()) {
                        LockSupport.parkNanos(1_000_000);
                    }
                }));
        windlass.outbox().enqueueAll(List.of(OutboxEntry.of("polite", "x"), OutboxEntry.of("stubborn", "x")));
        eventually().until(() -> running.getCount() == 0);
        windlass.close();
        assertThat(database.count(UNTOUCHED)).isEqualTo(2);
        stubborn.set(false);
    }

    @Test
    @Shows("OBX-105")
    void whatAHandlerThrowsWhenItIsAskedToStopIsLogged() {
        CountDownLatch running = new CountDownLatch(1);
        try (Logs logs = Logs.collect(Level.WARN)) {
            Windlass windlass = database.start(database.windlass()
                    .options(database.options().withShutdownGrace(Duration.ofMillis(50)))
                    .outboxHandler("a", message -> {
                        running.countDown();
                        try {
                            goOn.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException("half of it is done", e);
                        }
                    }));
            String id =
                    windlass.outbox().enqueue(OutboxEntry.of("a", "x")).value().toString();
            eventually().until(() -> running.getCount() == 0);
            windlass.close();
            assertThat(logs.at(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains(
                            id, "of topic a", "the message was given back", "half of it is done", "ShutdownTest.java");
            assertThat(logs.at(Level.ERROR)).isEmpty();
            assertThat(database.count(UNTOUCHED)).isEqualTo(1);
        }
    }

    @Test
    void closingOnAnInterruptedThreadIsOrderlyToo() throws Exception {
        AtomicInteger done = new AtomicInteger();
        try (HikariDataSource pool = Pools.of(database.unpooled(), 6)) {
            Windlass windlass =
                    database.start(Windlass.on(pool).options(database.options()).outboxHandler("a", message -> {
                        LockSupport.parkNanos(500_000);
                        done.incrementAndGet();
                    }));
            windlass.outbox().enqueueAll(entries(500));
            eventually().until(() -> done.get() > 50);
            AtomicBoolean stillInterrupted = new AtomicBoolean();
            Thread closer = new Thread(() -> {
                Thread.currentThread().interrupt();
                windlass.close();
                stillInterrupted.set(Thread.currentThread().isInterrupted());
            });
            closer.start();
            closer.join();
            assertThat(stillInterrupted).isTrue();
            assertThat(database.count("status = 2")).isEqualTo(done.get());
            assertThat(database.count(UNTOUCHED)).isEqualTo(500 - done.get());
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    @Test
    void aClosedNodeHoldsNoConnectionAndNoThread() throws Exception {
        try (HikariDataSource pool = Pools.of(database.unpooled(), 6)) {
            List<Thread> before = windlassThreads();
            Windlass windlass = Windlass.on(pool)
                    .options(database.options())
                    .outboxHandler("a", message -> {})
                    .start();
            windlass.outbox().enqueueAll(entries(100));
            eventually().until(() -> database.count("status = 2") == 100);
            windlass.close();
            windlass.close();
            assertThat(windlass.isRunning()).isFalse();
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
            eventually().until(() -> before.containsAll(windlassThreads()));
        }
    }

    private static List<Thread> windlassThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("windlass-"))
                .toList();
    }

    @Test
    void aStartThatTakesLongerThanTheCloseBeginsNothing() throws Exception {
        AtomicInteger borrowed = new AtomicInteger();
        CountDownLatch late = new CountDownLatch(1);
        DataSource slow = Pools.before(database.dataSource(), () -> {
            if (borrowed.incrementAndGet() == 1) {
                throw new SQLTransientConnectionException("away");
            }
            late.await();
        });
        Windlass windlass = Windlass.on(slow)
                .options(database.options())
                .outboxHandler("a", message -> {})
                .start();
        eventually().until(() -> borrowed.get() == 2);
        windlass.close();
        late.countDown();
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> database.dataSource().getHikariPoolMXBean().getActiveConnections() == 0);
        assertThat(windlass.isRunning()).isFalse();
        assertThat(database.count(UNTOUCHED)).isEqualTo(1);
    }

    @Test
    void aClaimThatReturnsAfterTheNodeHasClosedStartsNothing() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (HikariDataSource pool = Pools.of(database.unpooled(), 4)) {
            Windlass windlass = Windlass.on(pool)
                    .options(database.options().withShutdownGrace(Duration.ofSeconds(20)))
                    .outboxHandler("first", message -> goOn.await())
                    .outboxHandler("a", message -> calls.incrementAndGet())
                    .start();
            windlass.outbox().enqueue(OutboxEntry.of("first", "x"));
            eventually().until(() -> database.count("status = 1") == 1);
            try (var lock = database.owner().getConnection();
                    var statement = lock.createStatement()) {
                lock.setAutoCommit(false);
                statement.execute("lock table \"" + database.schema() + "\".outbox in access exclusive mode");
                windlass.inTransaction(connection -> true);
                eventually().until(() -> waitingForLocks() > 0);
                Thread closer = new Thread(windlass::close);
                closer.start();
                // The claimer is given up, and handlers are waited for: their grace has begun.
                eventually().until(() -> isIn(closer, "awaitQuiet"));
                statement.execute("insert into \"" + database.schema() + "\".outbox"
                        + " (id, created_at, next_attempt_at, topic, payload) select gen_random_uuid(),"
                        + " clock_timestamp() - interval '1 min', clock_timestamp() - interval '1 min', 'a', 'x'"
                        + " from generate_series(1, 5)");
                lock.commit();
                eventually().until(() -> waitingForLocks() == 0);
                goOn.countDown();
                closer.join();
            }
            assertThat(calls.get()).isZero();
            assertThat(database.count("topic = 'a' and " + UNTOUCHED)).isEqualTo(5);
            assertThat(database.count("topic = 'first' and status = 2")).isEqualTo(1);
        }
    }

    private static long waitingForLocks() {
        return database.value(Long.class, "select count(*) from pg_stat_activity where wait_event_type = 'Lock'");
    }

    private static boolean isIn(Thread thread, String method) {
        return List.of(thread.getStackTrace()).stream()
                .anyMatch(frame -> frame.getMethodName().equals(method));
    }
}
