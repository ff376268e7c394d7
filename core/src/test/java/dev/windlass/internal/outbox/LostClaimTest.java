package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.base.HandlerOptions;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;

/** Claims that were committed, and of which the node never learned. Their leases are longer than the tests wait. */
@SuppressWarnings("try") // a node is there to run, not to be called
final class LostClaimTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final String BLAMELESS = "lease_expiries = 0 and retry_count = 0";

    private final Queue<String> handled = new ConcurrentLinkedQueue<>();
    private final AtomicInteger lost = new AtomicInteger();

    private static void enqueue(int count) {
        enqueue("x", count);
    }

    private static void enqueue(String payload, int count) {
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, count)
                        .mapToObj(n -> OutboxEntry.of("a", payload + n))
                        .toList());
    }

    private HinderedNode node(HinderedStore store) {
        return new HinderedNode(database, store, LONG, (message, cancellation) -> handled.add(message.payload()));
    }

    @Test
    void whatAClaimTookWhoseAnswerWasLostIsGivenBackAndHandled() throws Exception {
        enqueue(10);
        List<Integer> limits = new ArrayList<>();
        HinderedStore store = new HinderedStore(database) {
            @Override
            public List<Claimed<OutboxMessage>> claim(
                    Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
                    throws SQLException {
                limits.add(limit);
                List<Claimed<OutboxMessage>> claimed = super.claim(connection, owner, lease, limit, bytes, demands);
                if (lost.incrementAndGet() <= 2) {
                    throw lostAnswer();
                }
                return claimed;
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> database.count("status = 2 and " + BLAMELESS) == 10);
        }
        assertThat(handled).hasSize(10);
        assertThat(limits.get(1)).as("the next is smaller").isEqualTo(limits.get(0) / 2);
        assertThat(limits.get(2)).isEqualTo(limits.get(0) / 4);
    }

    /** One of its messages is locked by somebody for longer than the node needs to look twice. */
    @Test
    void whatIsLockedOfALostClaimIsGivenBackOnceItIsFree() throws Exception {
        enqueue(3);
        CompletableFuture<UUID> first = new CompletableFuture<>();
        AtomicInteger looks = new AtomicInteger();
        try (Connection holder = database.owner().getConnection()) {
            holder.setAutoCommit(false);
            HinderedStore store = new HinderedStore(database) {
                @Override
                public List<Claimed<OutboxMessage>> claim(
                        Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
                        throws SQLException {
                    List<Claimed<OutboxMessage>> claimed = super.claim(connection, owner, lease, limit, bytes, demands);
                    if (first.complete(owner)) {
                        lock(holder, claimed.get(0).id());
                        throw lostAnswer();
                    }
                    return claimed;
                }

                @Override
                public GivenBack giveBack(Connection connection, UUID owner, @Nullable String problem)
                        throws SQLException {
                    GivenBack back = super.giveBack(connection, owner, problem);
                    looks.incrementAndGet();
                    return back;
                }
            };
            try (HinderedNode node = node(store)) {
                eventually().until(() -> looks.get() >= 3);
                assertThat(database.count("status = 2")).isEqualTo(2);
                holder.rollback();
                eventually().until(() -> database.count("status = 2 and " + BLAMELESS) == 3);
            }
        }
    }

    private static void lock(Connection holder, UUID id) throws SQLException {
        try (PreparedStatement lock =
                holder.prepareStatement("select 1 from \"" + database.schema() + "\".outbox where id = ? for update")) {
            lock.setObject(1, id);
            lock.execute();
        }
    }

    /** That nothing was found at first proves nothing. */
    @Test
    void aClaimThatIsCommittedLongAfterItsAnswerWasLostIsGivenBackToo() throws Exception {
        enqueue(1);
        CompletableFuture<Integer> late = new CompletableFuture<>();
        HinderedStore store = new HinderedStore(database) {
            @Override
            public List<Claimed<OutboxMessage>> claim(
                    Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
                    throws SQLException {
                if (lost.incrementAndGet() == 1) {
                    late.completeAsync(
                            () -> commitLate(owner, lease, limit, demands),
                            CompletableFuture.delayedExecutor(1500, TimeUnit.MILLISECONDS));
                    throw lostAnswer();
                }
                return late.isDone() ? super.claim(connection, owner, lease, limit, bytes, demands) : List.of();
            }

            private int commitLate(UUID owner, Duration lease, int limit, List<Demand> demands) {
                try (Connection other = database.dataSource().getConnection()) {
                    return real.claim(other, owner, lease, limit, Long.MAX_VALUE, demands)
                            .size();
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> database.count("status = 2 and " + BLAMELESS) == 1);
        }
        assertThat(late).isCompletedWithValue(1);
        assertThat(handled).containsExactly("x0");
    }

    @Test
    void aMessageThatCannotBeReadIsSetAsideAloneAndTheOthersAreHandled() throws Exception {
        setAside(new OutOfMemoryError("Java heap space"), "java.lang.OutOfMemoryError");
    }

    @Test
    void anAnswerThatCannotBeReadForAnotherReasonIsTreatedAlike() throws Exception {
        setAside(new IllegalStateException("x13 is secret"), "java.lang.IllegalStateException");
    }

    /** As the driver tells it. */
    @Test
    void anAnswerThatDoesNotFitIntoMemoryIsNoOutageAndTreatedAlike() throws Exception {
        try (Logs logs = Logs.collect(Level.INFO)) {
            setAside(
                    new PSQLException("x13", PSQLState.OUT_OF_MEMORY, new OutOfMemoryError("Java heap space")),
                    "there is not enough memory (SQLSTATE 53200");
            assertThat(logs.lines()).noneMatch(line -> line.text().contains("is away"));
        }
    }

    private void setAside(Throwable failure, String reason) throws Exception {
        enqueue(40);
        List<Integer> limits = new ArrayList<>();
        HinderedStore store = new HinderedStore(database) {
            @Override
            public List<Claimed<OutboxMessage>> claim(
                    Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
                    throws SQLException {
                limits.add(limit);
                List<Claimed<OutboxMessage>> claimed = super.claim(connection, owner, lease, limit, bytes, demands);
                if (claimed.stream().anyMatch(each -> each.readable().payload().equals("x13"))) {
                    sneak(failure);
                }
                return claimed;
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> database.count("status = 2 and " + BLAMELESS) == 39);
            eventually()
                    .until(() ->
                            database.count("status = 3 and payload = 'x13' and last_error like 'it cannot be read: "
                                            + reason + "%'")
                                    == 1);
            enqueue("y", 200);
            eventually().until(() -> handled.size() == 239);
        }
        assertThat(limits).contains(1);
        assertThat(limits.get(limits.size() - 1))
                .as("as many as before, in the end")
                .isGreaterThan(8);
        assertThat(handled).doesNotContain("x13");
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    void anErrorOnTheWayFromTheClaimToTheHandForgetsNothing() throws Exception {
        enqueue(5);
        Events failing = new BrokenEvents(WindlassEvent.Claimed.class, () -> {
            if (lost.incrementAndGet() <= 3) {
                throw new OutOfMemoryError("to count them");
            }
        });
        Handling<OutboxMessage> handling =
                new Handling<>((message, cancellation) -> handled.add(message.payload()), HandlerOptions.defaults());
        try (HinderedNode node = new HinderedNode(database, new HinderedStore(database), LONG, handling, failing)) {
            eventually().until(() -> database.count("status = 2 and " + BLAMELESS) == 5);
        }
        assertThat(handled).hasSize(5);
    }

    /** The next of its key was taken with the ack, and nobody learned of it. */
    @Test
    void whatAnAckTookWhoseAnswerWasLostIsGivenBackAndHandledInOrder() throws Exception {
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 6)
                        .mapToObj(n -> OutboxEntry.of("a", "x" + n).withOrderingKey("k"))
                        .toList());
        AtomicInteger taken = new AtomicInteger();
        HinderedStore store = new HinderedStore(database) {
            @Override
            public Acked<OutboxMessage> ackAndTake(Connection connection, List<Held> held, Taker taker)
                    throws SQLException {
                Acked<OutboxMessage> acked = super.ackAndTake(connection, held, taker);
                if (!acked.taken().isEmpty() && taken.incrementAndGet() % 2 == 1) {
                    lost.incrementAndGet();
                    throw lostAnswer();
                }
                return acked;
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> database.count("status = 2 and " + BLAMELESS) == 6);
        }
        assertThat(handled).containsExactly("x0", "x1", "x2", "x3", "x4", "x5");
        assertThat(lost.get()).isPositive();
    }
}
