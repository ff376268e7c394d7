package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.WorkStore.Answer;
import dev.windlass.internal.queue.WorkStore.Ending;
import dev.windlass.internal.queue.WorkStore.Failure;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many connections at work on a few ordering keys. The same seed makes the same choices, if not the same interleaving; give it
 * as the system property {@code windlass.seed}.
 */
@Timeout(60)
@OnEveryEngine
final class OrderingRaceConformance extends OutboxConformance {
    private static final int WRITERS = 6;
    private static final int WORKERS = 4;
    private static final int TRANSACTIONS = 30;
    private static final List<String> KEYS = List.of("key 0", "key 1", "key 2", "key 3");
    private static final String UNFINISHED = "status in (0, 1, 4) or blocks_key = ?";

    private final long seed = Long.getLong("windlass.seed", System.nanoTime());
    private final AtomicInteger writing = new AtomicInteger(WRITERS);
    private final Set<UUID> failed = ConcurrentHashMap.newKeySet();
    private final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
    private volatile boolean broken;
    private final List<UUID> written = new ArrayList<>();
    private OrderingHistory history;
    private Database routines;

    @BeforeEach
    void prepare() throws SQLException {
        routines = database().routines();
        history = new OrderingHistory(database(), KEYS);
    }

    /** Retention zero deletes what is done, so that only overlaps can be checked there. */
    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "P1D"})
    void whateverHappensAtOnceKeysKeepTheirOrderAndNothingIsStranded(Duration retention) throws Exception {
        OutboxStore store = store(retention);
        List<Callable<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            Random random = new Random(seed + i);
            all.add(() -> write(random));
        }
        for (int i = 0; i < WORKERS; i++) {
            Random random = new Random(seed - 1 - i);
            all.add(() -> handle(random, store));
        }
        all.add(() -> operate(new Random(seed + 1000)));
        all.add(() -> cancel(new Random(seed + 2000)));
        all.add(() -> expire(store));

        runAll(all);

        assertThat(outbox.claim(OwnerToken.fresh(), LEASE, 10)).isEmpty();
        assertThat(history.written()).isPositive();
        assertThat(count(UNFINISHED, true)).isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key"))
                .as("keys left over with seed %s", seed)
                .isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key_freed"))
                .isZero();
        history.holds("seed " + seed);
    }

    @Test
    void theMessagesOfOneKeyAreHandledInTheOrderOfTheirCommits() throws Exception {
        List<UUID> handled = Collections.synchronizedList(new ArrayList<>());
        List<Callable<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            Random random = new Random(seed + i);
            all.add(() -> write(random, KEYS.get(0), null));
        }
        for (int i = 0; i < WORKERS; i++) {
            all.add(() -> {
                while (unfinished()) {
                    OwnerToken owner = OwnerToken.fresh();
                    for (OutboxMessage message : outbox.claim(owner, LEASE, 10)) {
                        handled.add(message.id().value());
                        outbox.ack(owner, List.of(message.id()));
                    }
                }
                return true;
            });
        }

        runAll(all);

        assertThat(handled).hasSize(history.written());
        assertThat(handled).extracting(history::commit).as("seed %s", seed).isSorted();
        history.holds("seed " + seed);
    }

    private boolean write(Random random) throws SQLException {
        return write(random, null, Duration.ofMillis(3));
    }

    private boolean write(Random random, @Nullable String onlyKey, @Nullable Duration expiry) throws SQLException {
        try (Connection connection = database().connect()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < TRANSACTIONS; i++) {
                String key = onlyKey != null ? onlyKey : KEYS.get(random.nextInt(KEYS.size()));
                writeOne(connection, random, key, expiry != null && random.nextInt(8) == 0 ? expiry : null);
            }
        } finally {
            writing.decrementAndGet();
        }
        return true;
    }

    /** The business row is locked after the outbox's, so that it tells what the outbox made of it. */
    private void writeOne(Connection connection, Random random, String key, @Nullable Duration expiry)
            throws SQLException {
        OutboxEntry entry = OutboxEntry.of("topic " + random.nextInt(2), "{}")
                .withOrderingKey(key)
                .withExpiresAt(expiry == null ? null : Instant.now().plus(expiry));
        UUID id = outbox.enqueue(connection, entry).value();
        long number = history.number(connection, key);
        if (random.nextInt(3) == 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(5)));
        }
        if (random.nextInt(6) == 0) {
            connection.rollback();
            return;
        }
        connection.commit();
        history.committed(id, number);
        synchronized (written) {
            written.add(id);
        }
    }

    /** On a pooled connection: this is asked all the time. */
    private boolean unfinished() throws SQLException {
        if (broken) {
            return false;
        }
        if (System.nanoTime() > deadline) {
            throw new AssertionError(
                    "with seed " + seed + " there is left at " + database().now() + ": " + rest());
        }
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(500)); // leaves the processor to those who have work
        return writing.get() > 0
                || routines.once(connection -> {
                    String one = "select 1 from \"" + routines.schema() + "\".outbox where " + UNFINISHED;
                    try (PreparedStatement statement = connection.prepareStatement(one)) {
                        statement.setBoolean(1, true);
                        statement.setMaxRows(1);
                        try (ResultSet rows = statement.executeQuery()) {
                            return rows.next();
                        }
                    }
                });
    }

    private List<String> rest() {
        return database()
                .rows(
                        "select m.ordering_key, m.ordering_sequence, m.status, m.blocks_key, m.next_attempt_at, m.expires_at,"
                                + " k.last_sequence, f.ordering_key from %s.outbox m"
                                + " left join %s.outbox_key k on k.ordering_key = m.ordering_key"
                                + " left join %s.outbox_key_freed f on f.ordering_key = m.ordering_key where "
                                + UNFINISHED,
                        true);
    }

    private boolean handle(Random random, OutboxStore store) throws SQLException {
        while (unfinished()) {
            OwnerToken owner = OwnerToken.fresh();
            for (OutboxMessage message : outbox.claim(owner, LEASE, 1 + random.nextInt(3))) {
                handle(random, store, owner, message);
            }
        }
        return true;
    }

    /** Without the retries of the API, which would hide a deadlock. */
    private void handle(Random random, OutboxStore store, OwnerToken owner, OutboxMessage message) throws SQLException {
        UUID id = message.id().value();
        String key = message.orderingKey().orElseThrow();
        Held held = new Held(id, owner.value(), true);
        history.started(id, key);
        int choice = random.nextInt(20);
        if (choice == 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
        history.ending(id, key);
        if (choice < 11) {
            untilNotLocked(connection -> store.ack(connection, List.of(held)));
        } else if (choice < 13) {
            untilNotLocked(connection -> store.abandon(connection, List.of(new Failure(held, Duration.ZERO, "again"))));
        } else if (choice < 14) {
            untilNotLocked(connection -> store.release(connection, List.of(held)));
        } else if (choice < 15) {
            runOutLease(List.of(message.id()));
        } else {
            FailedHead head = choice < 18 ? FailedHead.BLOCKS : FailedHead.IS_SKIPPED;
            untilNotLocked(connection -> store.fail(connection, List.of(new Ending(held, null, "broken")), head));
            failed.add(id);
        }
    }

    /** As the runtime does: what somebody else has locked is asked for again. */
    private void untilNotLocked(Database.Work<Answer> verb) throws SQLException {
        while (!routines.once(verb).locked().isEmpty()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    private boolean operate(Random random) throws SQLException {
        OutboxOperator operator = outbox.operator("anna");
        while (unfinished()) {
            for (UUID id : List.copyOf(failed)) {
                operate(operator, random.nextInt(4), id);
            }
        }
        return true;
    }

    private void operate(OutboxOperator operator, int choice, UUID id) {
        List<OutboxMessageIdentifier> one = List.of(new OutboxMessageIdentifier(id));
        long before = OrderingHistory.now();
        switch (choice) {
            case 0 -> {
                history.requeued(id);
                failed.remove(id); // it may fail again before the call returns
                if (operator.requeue(one, Attempts.RESET) == 0) {
                    failed.add(id); // erased
                }
            }
            case 1 -> {
                operator.purge(one);
                failed.remove(id);
            }
            case 2 -> {
                operator.erase(one);
                assertThat(operator.requeue(one, Attempts.RESET)).isZero();
            }
            default -> {
                if (operator.skip(one) == 1) {
                    history.passedOver(id, before);
                }
                failed.remove(id);
            }
        }
    }

    /** Programs that cancel or put off what they wrote, in transactions that may come to nothing. */
    private boolean cancel(Random random) throws SQLException {
        try (Connection connection = database().connect()) {
            connection.setAutoCommit(false);
            while (unfinished()) {
                UUID any = any(random);
                if (any == null) {
                    continue;
                }
                OutboxMessageIdentifier id = new OutboxMessageIdentifier(any);
                if (random.nextBoolean()) {
                    outbox.cancel(connection, id);
                } else {
                    outbox.reschedule(connection, id, Instant.now());
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(4)));
                if (random.nextInt(3) == 0) {
                    connection.commit();
                } else {
                    connection.rollback();
                }
            }
        }
        return true;
    }

    private @Nullable UUID any(Random random) {
        synchronized (written) {
            int size = written.size();
            return size == 0 ? null : written.get(size - 1 - random.nextInt(Math.min(size, 20)));
        }
    }

    private boolean expire(OutboxStore store) throws SQLException {
        while (unfinished()) {
            routines.once(connection -> store.expire(connection, 3));
            outbox.reapExpired();
        }
        return true;
    }

    private void runAll(List<Callable<Boolean>> all) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(all.size());
        try {
            List<Future<Boolean>> results = all.stream()
                    .map(each -> threads.submit(() -> orBreak(each)))
                    .toList();
            for (Future<Boolean> result : results) {
                result.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError("with seed " + seed + ": " + e.getCause(), e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private boolean orBreak(Callable<Boolean> work) throws Exception {
        boolean done = false;
        try {
            done = work.call();
        } finally {
            broken |= !done;
        }
        return done;
    }
}
