package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.lease.Lease;
import dev.windlass.outbox.OutboxEntry;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The grace period means what it says, whatever the database does: nothing waits for an answer that never comes, nor for the pool,
 * which takes longer than each test has. That it is the two seconds promised, and not ten more, is not asserted: a slow machine needs
 * them.
 */
final class ClosingTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase(EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults()));

    private static final Duration GRACE = Duration.ofSeconds(3);
    private static final Duration AT_MOST = GRACE.plusSeconds(12);

    /** Whoever waits for the pool takes too long. */
    private static final long POOL_MILLIS = AT_MOST.plusSeconds(5).toMillis();

    private final AtomicInteger running = new AtomicInteger();
    private final CountDownLatch goOn = new CountDownLatch(1);

    /** What waits for a connection of a pool that is gone would tell of it in the logs of others. */
    @AfterAll
    static void nobodyWaitsAnyMore() {
        eventually()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("windlass-loop")));
    }

    private static PGSimpleDataSource through(Link link) {
        PGSimpleDataSource source = (PGSimpleDataSource) database.unpooled();
        source.setUrl("jdbc:postgresql://127.0.0.1:" + link.port() + "/postgres");
        return source;
    }

    /** A node that uses everything there is: a handler of each kind is running, a lease is held, and it leads. */
    private Windlass busy(DataSource source) throws Exception {
        Windlass windlass = Windlass.on(source)
                .options(database.options().withShutdownGrace(GRACE))
                .outboxHandler("a", message -> {
                    running.incrementAndGet();
                    goOn.await();
                })
                .inboxHandler("b", message -> {
                    running.incrementAndGet();
                    goOn.await();
                })
                .start();
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        windlass.inbox().enqueue(InboxEntry.of("source", "1", "b", "x"));
        Lease lease =
                windlass.leases().tryAcquire("held", Duration.ofMinutes(1)).orElseThrow();
        windlass.leases().lead("led", Duration.ofMinutes(1), held -> {
            running.incrementAndGet();
            while (!held.cancellation().isCancelled()) {
                Thread.sleep(10);
            }
        });
        eventually().until(() -> running.get() == 3 && !lease.isLost());
        return windlass;
    }

    /** Else the pool, when it is closed, waits for as long as a connection may take. */
    private static void hangUp(Link link) {
        link.refuse(true);
        link.cut();
    }

    private static void closesInTime(Windlass windlass) throws Exception {
        Thread closer = new Thread(windlass::close);
        closer.start();
        closer.join(AT_MOST.toMillis());
        assertThat(closer.isAlive())
                .as(() -> "still in " + List.of(closer.getStackTrace()))
                .isFalse();
    }

    @Test
    void aDatabaseThatNeverAnswersIsNotWaitedFor() throws Exception {
        try (Link link = new Link(database.server().port());
                HikariDataSource pool =
                        Pools.of(through(link), 12, config -> config.setConnectionTimeout(POOL_MILLIS));
                Logs logs = Logs.collect(Level.WARN)) {
            Windlass windlass = busy(pool);
            link.swallow();
            goOn.countDown();
            closesInTime(windlass);
            assertThat(logs.count(Level.WARN, "closed before the outcomes of 2 messages could be written"))
                    .isEqualTo(1);
            hangUp(link);
        }
        assertThat(database.count("status = 1")).isEqualTo(1);
    }

    @Test
    void handlersThatDoNotStopAndADatabaseThatNeverAnswersAreNotWaitedForInTurn() throws Exception {
        try (Link link = new Link(database.server().port());
                HikariDataSource pool =
                        Pools.of(through(link), 12, config -> config.setConnectionTimeout(POOL_MILLIS))) {
            Windlass windlass = Windlass.on(pool)
                    .options(database.options().withShutdownGrace(GRACE))
                    .outboxHandler("a", message -> {
                        running.incrementAndGet();
                        awaitWhateverHappens(goOn);
                    })
                    .start();
            windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> running.get() == 1);
            link.swallow();
            closesInTime(windlass);
            goOn.countDown();
            hangUp(link);
        }
    }

    /** Interrupts do not end it. */
    private static void awaitWhateverHappens(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // It does not listen.
            }
        }
    }

    @Test
    void aDatabaseThatIsGoneIsNotWaitedFor() throws Exception {
        try (HikariDataSource pool =
                Pools.of(database.unpooled(), 12, config -> config.setConnectionTimeout(POOL_MILLIS))) {
            Windlass windlass = busy(pool);
            database.server().kill();
            goOn.countDown();
            closesInTime(windlass);
        } finally {
            database.server().restart();
        }
    }

    @Test
    void aPoolThatHasNoConnectionIsNotWaitedFor() throws Exception {
        List<Connection> all = new ArrayList<>();
        try (HikariDataSource pool =
                Pools.of(database.unpooled(), 12, config -> config.setConnectionTimeout(POOL_MILLIS))) {
            Windlass windlass = busy(pool);
            Thread hog = new Thread(() -> {
                try {
                    while (true) {
                        all.add(pool.getConnection());
                    }
                } catch (Exception e) {
                    // The pool is closed at the end of the test.
                }
            });
            hog.start();
            eventually().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 12);
            goOn.countDown();
            closesInTime(windlass);
            assertThat(all).as("held by the hog").isNotEmpty();
        }
    }

    /** Where no pool bounds it, to connect takes for ever. */
    @Test
    void connectionsThatAreAcceptedAndNeverAnsweredAreNotWaitedFor() throws Exception {
        try (Link link = new Link(database.server().port())) {
            Windlass windlass = busy(through(link));
            link.swallow();
            goOn.countDown();
            closesInTime(windlass);
        }
    }

    /** Only the connections there are hang; on others everything is written before the node ends. */
    @Test
    void whatHangsOnOneConnectionIsWrittenOnAnother() throws Exception {
        try (Link link = new Link(database.server().port());
                Logs logs = Logs.collect(Level.WARN)) {
            Windlass windlass = busy(through(link));
            link.freeze();
            goOn.countDown();
            closesInTime(windlass);
            assertThat(logs.count(Level.WARN, "closed before the outcomes")).isZero();
        }
        assertThat(database.count("status = 2")).isEqualTo(1);
    }

    @Test
    void aCallUnderWayIsBrokenOffAndNoOtherBegins() throws Exception {
        Database answering = new Database(database.dataSource(), new PostgresDialect(), database.schema(), "test")
                .answeringWithin(Duration.ofMinutes(1));
        AtomicInteger failures = new AtomicInteger();
        Thread caller = new Thread(() -> {
            try {
                answering.once(connection -> connection.createStatement().execute("select pg_sleep(60)"));
            } catch (Exception e) {
                failures.incrementAndGet();
            }
        });
        caller.start();
        eventually()
                .until(() -> database.value(
                                Long.class, "select count(*) from pg_stat_activity where query like '%pg_sleep(60)'")
                        > 0);
        answering.breakOff();
        eventually().until(() -> failures.get() == 1);
        assertThat(answering.<Boolean>once(connection -> true)).isTrue();
        answering.end();
        assertThatThrownBy(() -> answering.once(connection -> true)).hasMessageContaining("closed");
    }
}
