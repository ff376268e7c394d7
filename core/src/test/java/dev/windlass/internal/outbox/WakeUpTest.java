package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Nodes here poll every ten minutes, and after work they sleep that long: of several messages, each written after the one
 * before was handled, only wake-ups can bring all.
 */
final class WakeUpTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int ROUNDS = 4;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final AtomicInteger handled = new AtomicInteger();

    private WindlassBuilder sleepy(DataSource source) {
        return Windlass.on(source)
                .options(database.options().withMaxPollingInterval(LONG))
                .outbox(OutboxOptions.defaults().withPollingInterval(LONG))
                .outboxHandler("a", message -> handled.incrementAndGet());
    }

    private interface Write {
        void one() throws Exception;
    }

    private void eachIsHandledBeforeTheNextIsWritten(Write write) throws Exception {
        for (int i = 1; i <= ROUNDS; i++) {
            int expected = i;
            write.one();
            eventually().until(() -> handled.get() == expected);
        }
    }

    @Test
    void aMessageOfItsOwnTransactionWakesItsHandler() throws Exception {
        Windlass windlass = database.start(sleepy(database.dataSource()));
        eachIsHandledBeforeTheNextIsWritten(() -> windlass.outbox().enqueue(OutboxEntry.of("a", "x")));
    }

    @Test
    void theCommitOfATransactionThatWindlassRunsWakesTheHandler() throws Exception {
        Windlass windlass = database.start(sleepy(database.dataSource()));
        eachIsHandledBeforeTheNextIsWritten(() ->
                windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, OutboxEntry.of("a", "x"))));
    }

    @Test
    void theCommitOfTheCallersTransactionWakesTheHandler() throws Exception {
        Windlass windlass = database.start(sleepy(database.dataSource()));
        eachIsHandledBeforeTheNextIsWritten(() -> commit(windlass));
    }

    @Test
    void theCommitOfAnotherNodeWakesTheHandler() throws Exception {
        database.start(sleepy(database.dataSource()));
        Windlass other = database.passive();
        eachIsHandledBeforeTheNextIsWritten(() -> commit(other));
        eachWrittenAlone(other);
    }

    private void eachWrittenAlone(Windlass other) {
        for (int i = 1; i <= ROUNDS; i++) {
            int expected = ROUNDS + i;
            other.outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> handled.get() == expected);
        }
    }

    private static void commit(Windlass windlass) throws Exception {
        try (Connection connection = database.unpooled().getConnection()) {
            connection.setAutoCommit(false);
            windlass.outbox().enqueue(connection, OutboxEntry.of("a", "x"));
            connection.commit();
        }
    }

    @Test
    void theEndOfAMessageWakesTheNodeThatHandlesTheNextOfItsKey() {
        database.start(sleepy(database.dataSource()));
        database.start(Windlass.on(database.dataSource())
                .options(database.options().withMaxPollingInterval(LONG))
                .outbox(OutboxOptions.defaults().withPollingInterval(LONG))
                .outboxHandler("b", message -> handled.incrementAndGet()));
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 12)
                        .mapToObj(
                                i -> OutboxEntry.of(i % 2 == 0 ? "a" : "b", "x").withOrderingKey("key"))
                        .toList());
        eventually().until(() -> handled.get() == 12);
    }

    @Test
    void aBurstOfTransactionsReachesAnotherNodeThoughFewOfThemNotify() throws Exception {
        database.start(sleepy(database.dataSource()));
        Windlass other = database.passive();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<?>> writers = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            writers.add(threads.submit(() -> {
                for (int i = 0; i < 100; i++) {
                    other.inTransaction(connection -> other.outbox().enqueue(connection, OutboxEntry.of("a", "x")));
                }
                return null;
            }));
        }
        for (Future<?> writer : writers) {
            writer.get();
        }
        threads.shutdown();
        eventually().until(() -> handled.get() == 400);
    }

    @Test
    void whereNotificationsDoNotArriveNodesLookEverySecondAndSaySoOnce() throws Exception {
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.start(sleepy(new DeafDataSource(database.dataSource())));
            eventually().until(() -> logs.count(Level.INFO, "notifications do not arrive") == 1);
            Windlass other = database.passive();
            eachIsHandledBeforeTheNextIsWritten(() -> other.outbox().enqueue(OutboxEntry.of("a", "x")));
            assertThat(logs.count(Level.INFO, "notifications do not arrive")).isEqualTo(1);
            assertThat(logs.at(Level.WARN)).isEmpty();
        }
    }

    @Test
    void withoutWakeUpsNodesStillFindWhatOthersWrite() throws Exception {
        database.start(sleepy(database.dataSource())
                .options(database.options().withMaxPollingInterval(LONG).withWakeUp(false)));
        Windlass other = database.passive();
        eachIsHandledBeforeTheNextIsWritten(() -> other.outbox().enqueue(OutboxEntry.of("a", "x")));
    }
}
