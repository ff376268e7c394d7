package dev.windlass.runtime;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Deadline;
import dev.windlass.HandlerOptions;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.engine.PostgresDialect;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Handlers hold the whole pool, and the connection for heartbeats breaks. */
@SuppressWarnings("try") // a node is there to run, not to be called
final class StandInTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final int HANDLERS = 3;
    private static final int KEPT = 2;
    private static final Duration LEASE = Duration.ofSeconds(3);

    private static final HandlerOptions PATIENT = HandlerOptions.defaults().withTimeout(Duration.ofMinutes(5));

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private final CountDownLatch goOn = new CountDownLatch(1);

    private static PGSimpleDataSource through(Link link) {
        PGSimpleDataSource source = (PGSimpleDataSource) database.unpooled();
        source.setUrl("jdbc:postgresql://127.0.0.1:" + link.port() + "/postgres");
        return source;
    }

    /** The port of the connection whose last statement was a heartbeat of this schema. */
    private static int heartBeatsPort() {
        return database.value(
                Integer.class,
                "select coalesce(max(client_port), 0) from pg_stat_activity"
                        + " where usename = 'windlass_runtime' and query like ?",
                "%\"" + database.schema() + "\".\"outbox_heartbeat\"%");
    }

    private static boolean wereRenewedFor(int seconds) {
        return database.count("status = 1 and locked_until > created_at + interval '" + seconds + " s'") == HANDLERS;
    }

    @Test
    void theConnectionForNotificationsRenewsLeasesUntilThePoolHasAnotherOne() throws Exception {
        try (Link link = new Link(database.server().port());
                HikariDataSource pool =
                        Pools.of(through(link), HANDLERS + KEPT, config -> config.setConnectionTimeout(30_000));
                Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = Windlass.on(pool)
                    .options(database.options().withShutdownGrace(Duration.ZERO))
                    .outbox(OutboxOptions.defaults().withLease(LEASE).withConcurrency(HANDLERS))
                    .outboxHandler("a", PATIENT, (message, cancellation) -> {
                        try (Connection held = pool.getConnection()) {
                            calls.incrementAndGet();
                            goOn.await();
                        } finally {
                            cancelled.compareAndSet(false, cancellation.isCancelled());
                        }
                    })
                    .start();
            database.passive()
                    .outbox()
                    .enqueueAll(IntStream.range(0, HANDLERS)
                            .mapToObj(n -> OutboxEntry.of("a", "x"))
                            .toList());
            eventually()
                    .until(() -> calls.get() == HANDLERS
                            && pool.getHikariPoolMXBean().getActiveConnections() == HANDLERS + KEPT
                            && heartBeatsPort() > 0);

            link.refuse(true); // what the pool loses it cannot replace
            link.cut(heartBeatsPort());

            eventually().until(() -> logs.count(Level.WARN, "the one for notifications stands in") == 1);
            eventually().until(() -> wereRenewedFor(15));
            link.refuse(false);
            eventually().until(() -> logs.count(Level.INFO, "have a connection of their own again") == 1);
            eventually().until(() -> wereRenewedFor(20));
            goOn.countDown();
            eventually().until(() -> database.count("status = 2 and lease_expiries = 0 and retry_count = 0") == 3);
            windlass.close();
            assertThat(logs.count(Level.WARN, "lease of message")).isZero();
        }
        assertThat(cancelled).isFalse();
        assertThat(calls.get()).isEqualTo(HANDLERS);
    }

    /** While it is lent it goes on listening. */
    @Test
    void theConnectionForNotificationsIsLentBetweenTwoSlicesOfWaiting() throws Exception {
        AtomicInteger heard = new AtomicInteger();
        Workers workers = new Workers();
        Database listening = new Database(database.unpooled(), new PostgresDialect(), database.schema(), "listening");
        Listener listener = new Listener(listening, "stand_in", workers, what -> heard.incrementAndGet(), works -> {});
        try {
            assertThat(listener.canLend()).isFalse();
            listener.start();
            eventually().until(() -> heard.get() == 1);
            for (int i = 0; i < 20; i++) {
                int expected = 2 + i;
                assertThat(listener.<Integer>lend(Duration.ofSeconds(5), connection -> {
                            try (var rows = connection.createStatement().executeQuery("select 42")) {
                                rows.next();
                                return rows.getInt(1);
                            }
                        }))
                        .isEqualTo(42);
                database.execute("notify stand_in, 'x'");
                eventually().until(() -> heard.get() == expected);
            }
        } finally {
            listener.askToStop();
            listener.awaitEnd(Deadline.in(System::nanoTime, Duration.ofSeconds(10)));
            workers.close();
        }
    }
}
