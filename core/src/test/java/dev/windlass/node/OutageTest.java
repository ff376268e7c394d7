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
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On a server of its own, with fsync, that is killed, stopped and started again. */
final class OutageTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase(
            EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withFsync(true)));

    private static final OutboxOptions LEASE_3 = OutboxOptions.defaults().withLease(Duration.ofSeconds(3));

    private static List<OutboxEntry> entries(int count) {
        return IntStream.range(0, count).mapToObj(n -> OutboxEntry.of("a", "x")).toList();
    }

    /** Each message takes one of the passes. */
    private static OutboxHandler.Simple recording(Queue<Interval> intervals, Semaphore passes) {
        return message -> {
            passes.acquire();
            Interval interval = Interval.begin(message.id().value());
            LockSupport.parkNanos(1_000_000);
            intervals.add(interval.end());
        };
    }

    @Test
    @Shows({"OBX-059", "OBX-100", "OBX-101"})
    void aKilledDatabaseLosesNothingAndNoMessageHasTwoOwnersAfterwards() throws Exception {
        drainThroughKills(4000, 1);
    }

    @Test
    @Tag("soak")
    void aDatabaseThatIsKilledAgainAndAgainLosesNothing() throws Exception {
        drainThroughKills(60_000, 12);
    }

    /** Half of the messages wait until the last kill is over: none comes when all is done. */
    private static void drainThroughKills(int total, int kills) throws Exception {
        Semaphore passes = new Semaphore(total / 2);
        Queue<Interval> first = new ConcurrentLinkedQueue<>();
        Queue<Interval> second = new ConcurrentLinkedQueue<>();
        Windlass writer = database.passive();
        writer.outbox().enqueueAll(entries(total));
        try (HikariDataSource pool = Pools.of(database.unpooled(), 8);
                Child child = Child.start(ChildNode.class, database, Long.toString(3000))) {
            eventually().until(() -> child.said("started true"));
            database.start(database.windlass().outbox(LEASE_3).outboxHandler("a", recording(first, passes)));
            database.start(Windlass.on(pool)
                    .options(database.options())
                    .outbox(LEASE_3)
                    .outboxHandler("a", recording(second, passes)));
            for (int kill = 1; kill <= kills; kill++) {
                int share = kill * total / (8 * kills);
                eventually().until(() -> first.size() + second.size() > share);
                database.server().kill();
                database.server().restart();
            }
            long restarted = Interval.now();
            passes.release(Integer.MAX_VALUE / 2);

            eventually().atMost(Duration.ofMinutes(3)).until(() -> database.count("status = 2") >= total);
            eventually().until(() -> {
                writer.outbox().enqueueAll(entries(1_000)); // enough for the slowest, which connects for each call
                return List.of(first, second, Interval.printedBy(child)).stream()
                        .allMatch(node -> node.stream().anyMatch(interval -> interval.from() > restarted));
            });
            eventually().until(() -> database.count("status <> 2") == 0);
            List<Interval> all = new ArrayList<>(first);
            all.addAll(second);
            all.addAll(Interval.printedBy(child));
            assertThat(Interval.overlaps(all)).isEmpty();
            assertThat(all.stream().map(Interval::id).distinct().count()).isEqualTo(database.count("status = 2"));
            assertThat(database.count("retry_count > 0")).isZero();
        }
    }

    @Test
    void anOutageLongerThanTheLeaseCostsNoAttempt() {
        Queue<String> events = new ConcurrentLinkedQueue<>();
        HandlerOptions once =
                HandlerOptions.defaults().withRetry(RetryPolicy.defaults().withMaxAttempts(1));
        Windlass windlass =
                database.start(database.windlass().outbox(database.shortLease()).outboxHandler("a", once, message -> {
                    events.add("began");
                    if (events.size() == 1) {
                        try {
                            new CountDownLatch(1).await();
                        } catch (InterruptedException e) {
                            events.add("interrupted");
                            throw e;
                        }
                    }
                }));
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> events.contains("began"));
        database.server().stop();
        eventually().until(() -> events.contains("interrupted"));
        database.server().restart();
        eventually().until(() -> database.count("status = 2 and retry_count = 0") == 1);
        assertThat(events).containsExactly("began", "interrupted", "began");
    }

    @Test
    void aHandlerThatFinishesDuringAnOutageIsNotRepeated() {
        AtomicInteger calls = new AtomicInteger();
        AtomicBoolean cancelled = new AtomicBoolean();
        AtomicBoolean finish = new AtomicBoolean();
        Windlass windlass = database.start(database.windlass()
                .outbox(database.shortLease())
                .outboxHandler("a", (message, cancellation) -> {
                    calls.incrementAndGet();
                    while (!finish.get()) {
                        LockSupport.parkNanos(1_000_000);
                        cancelled.set(cancellation.isCancelled());
                    }
                }));
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> calls.get() == 1);
        database.server().stop();
        eventually().until(cancelled::get);
        finish.set(true);
        database.server().restart();
        eventually().until(() -> database.count("status = 2 and retry_count = 0 and lease_expiries = 0") == 1);
        assertThat(calls.get()).isEqualTo(1);
    }

    /** With all loops there are: those of outbox, inbox, timers, jobs and leases. */
    @Test
    void aRestartIsOneLineWhenTheDatabaseGoesAndOneWhenItIsBack() {
        AtomicInteger handled = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .outboxHandler("a", message -> handled.incrementAndGet())
                .inboxHandler("b", message -> handled.incrementAndGet()));
        windlass.leases().tryAcquire("lease", Duration.ofMinutes(1));
        windlass.outbox().enqueueAll(entries(1));
        windlass.inbox().enqueue(InboxEntry.of("source", "1", "b", "x"));
        eventually().until(() -> handled.get() == 2);
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.server().stop();
            eventually().until(() -> logs.count(Level.WARN, "the database is away") == 1);
            database.server().restart();
            windlass.outbox().enqueueAll(entries(1));
            windlass.inbox().enqueue(InboxEntry.of("source", "2", "b", "x"));
            eventually().until(() -> handled.get() == 4);
            eventually().until(() -> logs.count(Level.INFO, "the database is back after") == 1);

            assertThat(logs.at(Level.WARN)).singleElement().asString().hasLineCount(1);
            assertThat(logs.at(Level.INFO)).singleElement().asString().hasLineCount(1);
            assertThat(logs.at(Level.ERROR)).isEmpty();
        }
    }

    @Test
    void aDatabaseThatIsAwayAtTheStartIsWaitedFor() {
        AtomicInteger handled = new AtomicInteger();
        database.server().stop();
        Windlass windlass =
                database.start(database.windlass().outboxHandler("a", message -> handled.incrementAndGet()));
        assertThat(windlass.isRunning()).isFalse();
        database.server().restart();
        eventually().until(windlass::isRunning);
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> handled.get() == 1);
    }

    @Test
    void aNodeThatIsStillStartingCanBeClosed() {
        database.server().stop();
        Windlass windlass =
                database.windlass().outboxHandler("a", message -> {}).start();
        windlass.close();
        windlass.close();
        assertThat(windlass.isRunning()).isFalse();
        database.server().restart();
        assertThat(windlass.isRunning()).isFalse();
    }

    @Test
    void closingDuringAnOutageEnds() {
        AtomicInteger handled = new AtomicInteger();
        CountDownLatch goOn = new CountDownLatch(1);
        Windlass windlass = database.windlass()
                .outboxHandler("a", message -> {
                    handled.incrementAndGet();
                    goOn.await();
                })
                .start();
        windlass.outbox().enqueueAll(entries(3));
        eventually().until(() -> handled.get() == 3);
        database.server().stop();
        goOn.countDown();
        Thread closer = new Thread(windlass::close);
        closer.start();
        eventually().until(() -> !closer.isAlive());
        database.server().restart();
        assertThat(database.count("status = 1")).isEqualTo(3);
    }

    @Test
    void connectionsToAServerThatIsReadOnlyAreThrownAway() throws Exception {
        AtomicInteger handled = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .outbox(database.shortLease())
                .outboxHandler("a", message -> handled.incrementAndGet()));
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> handled.get() == 1);
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.execute("alter role windlass_runtime set default_transaction_read_only = on");
            database.dataSource().getHikariPoolMXBean().softEvictConnections();
            eventually().until(() -> logs.count(Level.WARN, "read-only") > 0);
            database.execute("alter role windlass_runtime reset default_transaction_read_only");
            eventually().until(() -> logs.count(Level.INFO, "the database is back") > 0);
        }
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> handled.get() == 2);
    }

    /** Each renewal that is refused gives the kept connection back, and whoever listens on it finds none; it is there again at once. */
    @Test
    void aServerThatIsReadOnlyIsOneLineAndNotOneForEachConnection() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger begun = new AtomicInteger();
        OutboxOptions longEnough =
                OutboxOptions.defaults().withLease(Duration.ofSeconds(6)); // to be renewed again and again
        Windlass windlass =
                database.start(database.windlass().outbox(longEnough).outboxHandler("a", message -> {
                    begun.incrementAndGet();
                    goOn.await();
                }));
        windlass.outbox().enqueueAll(entries(3));
        eventually().until(() -> begun.get() == 3);
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            database.execute("alter role windlass_runtime set default_transaction_read_only = on");
            database.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'windlass_runtime'");

            eventually().until(() -> logs.count(Level.DEBUG, "renewing leases has failed") >= 3);

            assertThat(logs.count(Level.WARN, "listening for wake-ups")).isZero();
            assertThat(logs.count(Level.INFO, "listening for wake-ups")).isZero();
            assertThat(logs.count(Level.WARN, "the database is away")).isEqualTo(1);
        } finally {
            database.execute("alter role windlass_runtime reset default_transaction_read_only");
            database.dataSource().getHikariPoolMXBean().softEvictConnections(); // those of now stay read-only
            goOn.countDown();
        }
        eventually().until(() -> database.count("status = 2") == 3);
    }

    @Test
    void aSchemaThatDisappearsAndComesBackIsRecoveredFrom() throws Exception {
        AtomicInteger handled = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .outbox(database.shortLease())
                .outboxHandler("a", message -> handled.incrementAndGet()));
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> handled.get() == 1);
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.execute("alter schema %s rename to elsewhere");
            eventually().until(() -> logs.count(Level.WARN, "failed and goes on trying") > 0);
            database.execute("alter schema elsewhere rename to %s");
            eventually().until(() -> logs.count(Level.INFO, "works again") > 0);
        }
        windlass.outbox().enqueueAll(entries(1));
        eventually().until(() -> handled.get() == 2);
    }
}
