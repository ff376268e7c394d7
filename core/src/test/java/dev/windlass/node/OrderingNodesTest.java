package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.TestDatabase;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.internal.outbox.OrderingHistory;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The order of keys over several nodes. The same seed makes the same choices, if not the same interleaving; give it as the
 * system property {@code windlass.seed}.
 */
final class OrderingNodesTest {
    private static final int NODES = 3;
    private static final int WRITERS = 4;
    private static final int TRANSACTIONS = 60;
    private static final List<String> KEYS = List.of("key 0", "key 1", "key 2", "key 3", "key 4");

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final long seed = Long.getLong("windlass.seed", System.nanoTime());
    private List<String> topics = List.of("a", "b");
    private boolean expiring = true;
    private OrderingHistory history;
    private Outbox outbox;

    @BeforeEach
    void prepare() throws SQLException {
        history = new OrderingHistory(database, KEYS);
        outbox = database.passive().outbox();
    }

    @ParameterizedTest
    @EnumSource
    void keepsWhateverHandlersDo(FailedHead head) throws Exception {
        for (int node = 0; node < NODES; node++) {
            Random random = new Random(seed + node);
            HandlerOptions options = HandlerOptions.defaults()
                    .withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(5), 0));
            database.start(database.windlass()
                    .outbox(database.shortLease().withFailedHead(head))
                    .outboxHandler("a", options, message -> handle(message, random))
                    .outboxHandler("b", options, message -> handle(message, random)));
        }

        write();
        Random random = new Random(seed);
        eventually().until(() -> {
            letGoOn(random);
            return database.count("status in (0, 1, 4) or blocks_key") == 0;
        });

        nothingIsLeftAndTheOrderHeld();
    }

    /** Its messages are taken over when their leases run out; until then their keys stand still. */
    @Test
    void outlivesANodeThatIsKilled() throws Exception {
        topics = List.of("a");
        expiring = false;
        ExecutorService writer = Executors.newSingleThreadExecutor();
        try (Child child = Child.start(ChildNode.class, database, Long.toString(700))) {
            eventually().until(() -> child.said("started true"));
            Future<Boolean> written = writer.submit(() -> {
                write();
                return true;
            });
            eventually().until(() -> Interval.printedBy(child).size() > 20);
            child.kill();
            child.awaitOutput();
            Interval.printedBy(child).forEach(interval -> history.started(interval.id(), interval.from()));
            database.start(database.windlass().outbox(database.shortLease()).outboxHandler("a", this::handleWell));
            written.get();
            eventually().until(() -> database.count("status in (0, 1, 4)") == 0);
        } finally {
            writer.shutdownNow();
        }

        assertThat(database.count("status = 2")).isEqualTo(history.written());
        nothingIsLeftAndTheOrderHeld();
    }

    private void handle(OutboxMessage message, Random random) {
        int choice;
        synchronized (random) {
            choice = random.nextInt(12);
        }
        String key = message.orderingKey().orElseThrow();
        UUID id = message.id().value();
        history.started(id, key);
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(choice * 200L));
        history.ending(id, key);
        if (choice == 0) {
            throw new PermanentFailure("broken");
        } else if (choice < 3) {
            throw new IllegalStateException("not now");
        }
    }

    private void handleWell(OutboxMessage message) {
        String key = message.orderingKey().orElseThrow();
        history.started(message.id().value(), key);
        history.ending(message.id().value(), key);
    }

    private void write() throws Exception {
        ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
        try {
            List<Future<Boolean>> results = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                Random random = new Random(seed - 1 - i);
                results.add(writers.submit(() -> write(random)));
            }
            for (Future<Boolean> result : results) {
                result.get();
            }
        } finally {
            writers.shutdownNow();
        }
    }

    private boolean write(Random random) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < TRANSACTIONS; i++) {
                String key = KEYS.get(random.nextInt(KEYS.size()));
                UUID id = outbox.enqueue(connection, entry(random, key)).value();
                long number = history.number(connection, key);
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(3000)));
                if (random.nextInt(6) == 0) {
                    connection.rollback();
                } else {
                    connection.commit();
                    history.committed(id, number);
                }
            }
        }
        return true;
    }

    private OutboxEntry entry(Random random, String key) {
        OutboxEntry entry =
                OutboxEntry.of(topics.get(random.nextInt(topics.size())), "x").withOrderingKey(key);
        return expiring && random.nextInt(25) == 0
                ? entry.withExpiresAt(Instant.now().plusMillis(2))
                : entry;
    }

    /** What an operator does about failed messages that block their keys. */
    private void letGoOn(Random random) {
        for (String blocking : blocking()) {
            UUID id = UUID.fromString(blocking);
            List<OutboxMessageIdentifier> one = List.of(new OutboxMessageIdentifier(id));
            long before = OrderingHistory.now();
            switch (random.nextInt(3)) {
                case 0 -> {
                    history.requeued(id);
                    outbox.operator("anna").requeue(one, Attempts.RESET);
                }
                case 1 -> outbox.operator("anna").purge(one);
                default -> {
                    outbox.operator("anna").skip(one);
                    history.passedOver(id, before);
                }
            }
        }
    }

    private static List<String> blocking() {
        String ids = database.value(
                String.class,
                "select coalesce(string_agg(id::text, ' '), '') from %s.outbox where status = 3 and blocks_key");
        return ids.isEmpty() ? List.of() : List.of(ids.split(" "));
    }

    private void nothingIsLeftAndTheOrderHeld() throws SQLException {
        eventually()
                .until(() -> database.value(Long.class, "select count(*) from %s.outbox_key_freed") == 0
                        && database.value(Long.class, "select count(*) from %s.outbox_key") == 0);
        history.holds("seed " + seed);
    }
}
