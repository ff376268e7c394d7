package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.event.Events;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows that somebody has locked are neither written nor lost. */
@SuppressWarnings("try") // a node is there to run, not to be called
final class LockedOutcomeTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration SHORT = Duration.ofSeconds(1);

    private final Queue<UUID> handled = new ConcurrentLinkedQueue<>();
    private final AtomicInteger calls = new AtomicInteger();

    private static List<UUID> enqueue(int count) {
        return database
                .passive()
                .outbox()
                .enqueueAll(IntStream.range(0, count)
                        .mapToObj(n -> OutboxEntry.of("a", "x"))
                        .toList())
                .stream()
                .map(OutboxMessageIdentifier::value)
                .toList();
    }

    private HinderedNode node(HinderedStore store, Duration lease) {
        return new HinderedNode(
                database,
                store,
                lease,
                (message, cancellation) -> handled.add(message.id().value()));
    }

    private static boolean hasBeenRenewed(UUID id, int seconds) {
        return database.value(
                Boolean.class,
                "select coalesce(locked_until > created_at + make_interval(secs => ?), false) from %s.outbox"
                        + " where id = ?",
                (double) seconds,
                id);
    }

    @Test
    void anOutcomeWhoseRowIsLockedHoldsUpNoOtherAndIsWrittenOnceItIsFree() throws Exception {
        HinderedStore store = new HinderedStore(database);
        UUID stuck = enqueue(1).get(0);
        store.locked.add(stuck);
        try (HinderedNode node = node(store, SHORT)) {
            eventually().until(() -> handled.contains(stuck));
            enqueue(50);
            eventually().until(() -> database.count("status = 2") == 50);
            eventually().until(() -> hasBeenRenewed(stuck, 4));
            store.locked.clear();
            eventually().until(() -> database.count("status = 2 and lease_expiries = 0 and retry_count = 0") == 51);
        }
        assertThat(handled).hasSize(51).doesNotHaveDuplicates();
    }

    /** Its handler was asked to stop and did; only what is to be written about it waits. */
    @Test
    void theLeaseOfATimedOutMessageIsRenewedUntilItsOutcomeIsWritten() throws Exception {
        HinderedStore store = new HinderedStore(database);
        UUID stuck = enqueue(1).get(0);
        store.locked.add(stuck);
        Handling<OutboxMessage> hanging = new Handling<>(
                (message, cancellation) -> new CountDownLatch(1).await(),
                HandlerOptions.defaults().withTimeout(Duration.ofMillis(50)));
        try (HinderedNode node = new HinderedNode(database, store, SHORT, hanging, Events.NONE)) {
            eventually().until(() -> hasBeenRenewed(stuck, 4));
            store.locked.clear();
            eventually().until(() -> database.count("retry_count > 0 and lease_expiries = 0") == 1);
        }
    }

    @Test
    void whatIsLostIsNamedOnceAndNoOther() throws Exception {
        List<UUID> ids = enqueue(3);
        HinderedStore store = new HinderedStore(database) {
            @Override
            public Answer ack(Connection connection, List<Held> held) throws SQLException {
                List<Held> kept = held.stream()
                        .filter(each -> !each.id().equals(ids.get(1)))
                        .toList();
                Answer answer = kept.isEmpty() ? Answer.all(0) : super.ack(connection, kept);
                return kept.size() == held.size() ? answer : new Answer(answer.changed(), Set.of(), Set.of(ids.get(1)));
            }
        };
        try (Logs logs = Logs.collect(Level.WARN);
                HinderedNode node = node(store, Duration.ofMinutes(1))) {
            eventually().until(() -> database.count("status = 2") == 2);
            eventually().until(() -> !logs.at(Level.WARN).isEmpty());
            assertThat(logs.at(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains("1 messages had lost their lease")
                    .contains("message " + ids.get(1) + " of topic a")
                    .doesNotContain(ids.get(0).toString());
        }
    }

    @Test
    void whatIsGoneAfterATryWithoutAnswerIsNotCalledLost() throws Exception {
        HinderedStore store = new HinderedStore(database) {
            @Override
            public Answer ack(Connection connection, List<Held> held) throws SQLException {
                Answer answer = super.ack(connection, held);
                if (calls.incrementAndGet() == 1) {
                    throw lostAnswer();
                }
                Set<UUID> lost = new HashSet<>();
                held.forEach(each -> lost.add(each.id()));
                return answer.changed() == 0 ? new Answer(0, Set.of(), lost) : answer;
            }
        };
        enqueue(1);
        try (Logs logs = Logs.collect(Level.WARN);
                HinderedNode node = node(store, Duration.ofMinutes(1))) {
            eventually().until(() -> calls.get() == 2);
            enqueue(1);
            eventually().until(() -> database.count("status = 2") == 2);
            assertThat(logs.count(Level.WARN, "had lost their lease")).isZero();
        }
        assertThat(handled).hasSize(2);
    }

    /** Five beats at their usual distance would take longer than the lease. */
    @Test
    void aLockedRowIsAskedForAgainSoonAndItsHandlerGoesOn() throws Exception {
        CountDownLatch renewed = new CountDownLatch(1);
        HinderedStore store = new HinderedStore(database) {
            @Override
            public Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
                if (calls.incrementAndGet() <= 5) {
                    Set<UUID> all = new HashSet<>();
                    held.forEach(each -> all.add(each.id()));
                    return new Answer(0, all, Set.of());
                }
                Answer answer = super.heartbeat(connection, held, lease);
                renewed.countDown();
                return answer;
            }
        };
        enqueue(1);
        try (HinderedNode node = new HinderedNode(database, store, Duration.ofSeconds(6), (message, cancellation) -> {
            handled.add(message.id().value());
            renewed.await();
        })) {
            eventually().until(() -> database.count("status = 2 and lease_expiries = 0") == 1);
        }
        assertThat(handled).as("started once, and not interrupted").hasSize(1);
    }

    @Test
    void aRowThatStaysLockedIsLostWhenItsLeaseHasRunOut() throws Exception {
        HinderedStore store = new HinderedStore(database) {
            @Override
            public Answer heartbeat(Connection connection, List<Held> held, Duration lease) {
                Set<UUID> all = new HashSet<>();
                held.forEach(each -> all.add(each.id()));
                return new Answer(0, all, Set.of());
            }
        };
        CountDownLatch interrupted = new CountDownLatch(1);
        enqueue(1);
        try (HinderedNode node = new HinderedNode(database, store, SHORT, (message, cancellation) -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
        })) {
            eventually().until(() -> interrupted.getCount() == 0);
        }
    }
}
