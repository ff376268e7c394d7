package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassException;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

final class PoolTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final AtomicInteger calls = new AtomicInteger();

    private static List<OutboxEntry> entries(int count) {
        return IntStream.range(0, count).mapToObj(n -> OutboxEntry.of("a", "x")).toList();
    }

    @Test
    @Shows("OBX-059")
    void leasesAreRenewedWhileHandlersHoldEveryConnectionOfThePool() {
        CountDownLatch goOn = new CountDownLatch(1);
        try (HikariDataSource pool = Pools.of(database.unpooled(), 4, config -> config.setConnectionTimeout(30_000));
                HikariDataSource other =
                        Pools.of(database.unpooled(), 4, config -> config.setConnectionTimeout(30_000))) {
            for (HikariDataSource each : List.of(pool, other)) {
                database.start(Windlass.on(each)
                        .options(database.options())
                        .outbox(database.shortLease().withConcurrency(3))
                        .outboxHandler("a", message -> {
                            try (Connection held = each.getConnection()) {
                                assertThat(held.isClosed()).isFalse();
                                calls.incrementAndGet();
                                goOn.await();
                            }
                        }));
            }
            database.passive().outbox().enqueueAll(entries(6));
            eventually()
                    .until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 4
                            && other.getHikariPoolMXBean().getActiveConnections() == 4
                            && calls.get() == 6);
            eventually().until(() -> database.count("locked_until > created_at + interval '4 s'") == 6);
            goOn.countDown();
            eventually().until(() -> database.count("status = 2 and lease_expiries = 0 and retry_count = 0") == 6);
            assertThat(calls.get()).isEqualTo(6);
            database.closeAll();
        }
    }

    @Test
    void aPoolThatIsUsedUpIsNotTakenForADatabaseThatIsAway() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (HikariDataSource pool = Pools.of(database.unpooled(), 1);
                Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = database.start(Windlass.on(pool)
                    .backgroundDataSource(database.unpooled())
                    .options(database.options())
                    .outbox(database.shortLease())
                    .outboxHandler("a", message -> {
                        try (Connection held = pool.getConnection()) {
                            assertThat(held.isClosed()).isFalse();
                            calls.incrementAndGet();
                            goOn.await();
                        }
                    }));
            windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> calls.get() == 1);
            eventually().until(() -> logs.count(Level.WARN, "no connection was free within 2") == 1);
            assertThatThrownBy(() -> windlass.outbox().enqueue(OutboxEntry.of("b", "x")))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("could not enqueue a message of topic b: no connection was free within 2")
                    .hasMessageContaining("the pool may be too small")
                    .hasMessageContaining("total=1, active=1");
            goOn.countDown();
            eventually().until(() -> database.count("status = 2") == 1);
            assertThat(logs.at(Level.WARN))
                    .as("one at the start, one for all who waited")
                    .hasSize(2);
            database.closeAll();
        }
    }

    @Test
    void onlyADatabaseThatIsAwayIsAnOutage() throws Exception {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        nowhere.setUrl("jdbc:postgresql://127.0.0.1:1/nowhere");
        try (HikariDataSource used = Pools.of(database.unpooled(), 1, config -> config.setConnectionTimeout(300));
                HikariDataSource away = Pools.of(nowhere, 1, config -> config.setConnectionTimeout(300));
                Connection held = used.getConnection()) {
            assertThat(held.isClosed()).isFalse();
            Database usedUp = new Database(used, new PostgresDialect(), database.schema(), "used up");
            Database gone = new Database(away, new PostgresDialect(), database.schema(), "gone");

            assertThatThrownBy(() -> usedUp.once(Connection::isClosed)).isInstanceOf(PoolTimeout.class);

            for (int round = 0; round < 3; round++) {
                List<Throwable> errors = atOnce(5, () -> gone.once(Connection::isClosed));
                if (round > 0) { // until somebody has heard why, a time-out of the pool is all that the others know
                    assertThat(errors)
                            .allSatisfy(e -> assertThat(new PostgresDialect().isOutage((SQLException) e))
                                    .isTrue());
                }
            }
        }
    }

    private static List<Throwable> atOnce(int count, Callable<?> call) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            List<Throwable> errors = new ArrayList<>();
            for (Future<?> each : threads.invokeAll(Collections.nCopies(count, call))) {
                errors.add(catchThrowable(each::get).getCause());
            }
            return errors;
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void connectionsWithoutAutocommitWorkToo() throws Exception {
        try (HikariDataSource pool = Pools.of(database.unpooled(), 8, config -> config.setAutoCommit(false))) {
            Windlass windlass = database.start(Windlass.on(pool)
                    .options(database.options())
                    .outbox(database.shortLease())
                    .outboxHandler("a", message -> {
                        if (calls.incrementAndGet() == 1) {
                            throw new IllegalStateException("once");
                        }
                    }));
            windlass.outbox().enqueueAll(entries(20));
            windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
            windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, OutboxEntry.of("a", "x")));
            eventually().until(() -> database.count("status = 2") == 22);
            assertThat(calls.get()).isEqualTo(23);
            database.closeAll();
        }
    }

    @Test
    void aPoolThatThrowsIsBorneAndRecoveredFrom() {
        AtomicInteger borrowed = new AtomicInteger();
        AtomicBoolean broken = new AtomicBoolean();
        DataSource moody = Pools.before(database.dataSource(), () -> {
            int number = borrowed.incrementAndGet();
            if (broken.get() || number % 7 == 3) {
                throw new IllegalStateException("the pool has a bad day");
            }
            if (number % 7 == 5) {
                throw new SQLException("no connection for you");
            }
        });
        Windlass writer = database.passive();
        writer.outbox().enqueueAll(entries(300));
        database.start(Windlass.on(moody)
                .options(database.options())
                .outbox(OutboxOptions.defaults().withBatchSize(20))
                .outboxHandler("a", message -> calls.incrementAndGet()));
        eventually().until(() -> database.count("status = 2") > 50);
        broken.set(true);
        int seen = borrowed.get();
        eventually().until(() -> borrowed.get() > seen + 3);
        broken.set(false);
        eventually().until(() -> database.count("status = 2") == 300);
        assertThat(calls.get()).isEqualTo(300);
    }

    @Test
    void anAttemptThatFoundNoConnectionForItsTransactionDoesNotCount() {
        AtomicInteger refused = new AtomicInteger();
        DataSource moody = Pools.before(database.dataSource(), () -> {
            String thread = Thread.currentThread().getName();
            boolean forHandler = thread.isEmpty() || thread.startsWith("windlass-handler"); // virtual ones have no name
            if (forHandler && refused.incrementAndGet() <= 3) {
                throw new SQLException("no connection for handlers");
            }
        });
        HandlerOptions once =
                HandlerOptions.defaults().withRetry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(10), 0));
        Windlass writer = database.passive();
        writer.inbox().enqueue(InboxEntry.of("orders", "1", "a", "x"));
        database.start(Windlass.on(moody)
                .options(database.options())
                .inboxHandlerInTransaction("a", once, (connection, message) -> calls.incrementAndGet()));
        eventually()
                .until(() -> writer.inbox().find("orders", "1").orElseThrow().isProcessed());
        assertThat(refused.get()).isGreaterThan(3);
        assertThat(calls.get()).isEqualTo(1);
        assertThat(writer.inbox().find("orders", "1").orElseThrow().retryCount())
                .isZero();
    }

    @Test
    @Shows("OBX-099")
    void deadlocksAreRepeatedUntilTheWorkIsDone() throws Exception {
        database.execute("create sequence %s.tries");
        database.execute("""
                create function %s.sometimes_deadlock() returns trigger language plpgsql security definer as $$
                begin
                    if nextval('%s.tries') % 5 = 0 then
                        raise exception 'deadlock detected' using errcode = '40P01';
                    end if;
                    return null;
                end $$""");
        database.execute("create trigger deadlocks after insert or update on %s.outbox"
                + " for each statement execute function %s.sometimes_deadlock()");
        try {
            Windlass windlass =
                    database.start(database.windlass().outboxHandler("a", message -> calls.incrementAndGet()));
            for (int i = 0; i < 30; i++) {
                windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
            }
            eventually().until(() -> database.count("status = 2") == 30);
            assertThat(calls.get()).isEqualTo(30);
        } finally {
            database.execute("drop trigger deadlocks on %s.outbox");
        }
    }
}
