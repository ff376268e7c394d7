package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** A database behind a network that fails. */
final class LinkTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Set<UUID> handled = ConcurrentHashMap.newKeySet();
    private final AtomicInteger calls = new AtomicInteger();
    private Link link;

    @BeforeEach
    void open() throws Exception {
        link = new Link(database.server().port());
    }

    @AfterEach
    void close() throws Exception {
        link.close();
    }

    private PGSimpleDataSource source() {
        PGSimpleDataSource source = (PGSimpleDataSource) database.unpooled();
        source.setUrl("jdbc:postgresql://127.0.0.1:" + link.port() + "/postgres");
        return source;
    }

    private WindlassBuilder node(HikariDataSource pool) {
        return Windlass.on(pool)
                .options(database.options())
                .outbox(OutboxOptions.defaults()
                        .withLease(Duration.ofSeconds(2))
                        .withMaxLeaseExpiries(1000))
                .outboxHandler("a", message -> {
                    calls.incrementAndGet();
                    handled.add(message.id().value());
                });
    }

    private static List<OutboxEntry> entries(int count) {
        return IntStream.range(0, count).mapToObj(n -> OutboxEntry.of("a", "x")).toList();
    }

    @Test
    void connectionsThatAreResetAgainAndAgainLoseNothing() {
        Windlass writer = database.passive();
        try (HikariDataSource pool = Pools.of(source(), 8);
                Windlass windlass = node(pool).start()) {
            for (int i = 1; i <= 5; i++) {
                int expected = i * 300;
                writer.outbox().enqueueAll(entries(300));
                eventually().until(() -> handled.size() > expected - 250);
                link.cut();
            }
            eventually().until(() -> database.count("status = 2") == 1500);
            assertThat(handled).hasSize(1500);
            assertThat(windlass.isRunning()).isTrue();
        }
    }

    @Test
    void aNetworkThatRefusesForAWhileIsWaitedFor() {
        try (HikariDataSource pool = Pools.of(source(), 8);
                Windlass windlass = node(pool).start()) {
            windlass.outbox().enqueueAll(entries(1));
            eventually().until(() -> database.count("status = 2") == 1);
            link.refuse(true);
            link.cut();
            database.passive().outbox().enqueueAll(entries(10));
            link.refuse(false);
            eventually().until(() -> database.count("status = 2") == 11);
        }
    }

    @Test
    void connectionsThatSwallowEverythingAreLeftWhenTheSocketTimesOut() {
        PGSimpleDataSource source = source();
        source.setSocketTimeout(1);
        try (HikariDataSource pool = Pools.of(source, 8);
                Windlass windlass = node(pool).start()) {
            windlass.outbox().enqueueAll(entries(1));
            eventually().until(() -> database.count("status = 2") == 1);
            link.freeze();
            database.passive().outbox().enqueueAll(entries(10));
            eventually().until(() -> database.count("status = 2") == 11);
        }
    }

    @Test
    void aNodeWithoutSocketTimeoutGoesOnWhenTheNetworkDoesAndHandlesNothingTwice() {
        CountDownLatch goOn = new CountDownLatch(1);
        try (HikariDataSource pool = Pools.of(source(), 8);
                Windlass windlass = Windlass.on(pool)
                        .options(database.options())
                        .outboxHandler("a", message -> {
                            calls.incrementAndGet();
                            goOn.await();
                        })
                        .start()) {
            windlass.outbox().enqueueAll(entries(5));
            eventually().until(() -> calls.get() == 5);
            link.freeze();
            goOn.countDown();
            database.passive().outbox().enqueueAll(entries(5));
            link.thaw();
            eventually().until(() -> database.count("status = 2") == 10);
            assertThat(calls.get()).isEqualTo(10);
        }
    }

    @Test
    void closingEndsThoughTheDatabaseDoesNotAnswer() {
        CountDownLatch goOn = new CountDownLatch(1);
        HikariDataSource pool = Pools.of(source(), 8);
        Windlass windlass = Windlass.on(pool)
                .options(database.options().withShutdownGrace(Duration.ofMillis(100)))
                .outboxHandler("a", message -> {
                    calls.incrementAndGet();
                    goOn.await();
                })
                .start();
        windlass.outbox().enqueueAll(entries(2));
        eventually().until(() -> calls.get() == 2);
        link.freeze();
        goOn.countDown();
        Thread closer = new Thread(windlass::close);
        closer.start();
        eventually().until(() -> !closer.isAlive());
        link.cut();
        pool.close();
    }

    @Test
    void aCallOfALoopIsGivenUpWhenNoAnswerComes() throws Exception {
        Database impatient = new Database(source(), new PostgresDialect(), database.schema(), "impatient")
                .answeringWithin(Duration.ofMillis(300));
        assertThat(impatient.<Integer>once(connection -> connection.getNetworkTimeout()))
                .isEqualTo(300);
        assertThatThrownBy(() -> impatient.once(connection -> {
                    link.freeze();
                    return connection.createStatement().execute("select 1");
                }))
                .isInstanceOfSatisfying(
                        SQLException.class,
                        e -> assertThat(new PostgresDialect().isTransient(e)).isTrue());
    }

    @Test
    void theConnectionGoesBackToItsPoolWithTheTimeoutItHad() throws Exception {
        PGSimpleDataSource source = source();
        source.setSocketTimeout(7);
        try (HikariDataSource pool = Pools.of(source, 1)) {
            Database impatient = new Database(pool, new PostgresDialect(), database.schema(), "impatient")
                    .answeringWithin(Duration.ofMinutes(1));
            impatient.once(connection -> true);
            try (var connection = pool.getConnection()) {
                assertThat(connection.getNetworkTimeout()).isEqualTo(7000);
            }
        }
    }
}
