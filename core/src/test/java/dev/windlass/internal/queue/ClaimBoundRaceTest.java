package dev.windlass.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.TestDatabase;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.engine.PostgresDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The proof beside the claim routine, tried: no message commits behind a bound. */
final class ClaimBoundRaceTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final int WRITERS = 8;
    private static final int CLAIMERS = 2;
    private static final int BATCH = 10;
    private static final long RUN_NANOS = TimeUnit.SECONDS.toNanos(4);

    private final AtomicInteger written = new AtomicInteger();

    @Test
    void aTransactionThatIsStillOpenHoldsTheBoundBack() throws SQLException {
        ClaimBound bound = new ClaimBound();
        try (Connection late = database.dataSource().getConnection()) {
            late.setAutoCommit(false);
            enqueue(late);
            for (int i = 0; i < 5; i++) {
                enqueue();
                assertThat(claim(bound)).hasSize(1);
            }
            assertThat(bound.position()).isEqualTo(Position.START);
            late.commit();
        }
        assertThat(claim(bound)).hasSize(1);
    }

    @Test
    void theBoundFollowsWhatWasClaimed() throws SQLException {
        ClaimBound bound = new ClaimBound();
        enqueue();
        List<Claimed<UUID>> first = claim(bound);
        // A snapshot in which another session's number is still running confirms nothing.
        await().until(() -> {
            enqueue();
            claim(bound);
            return bound.position().compareTo(first.get(0).position()) >= 0;
        });
        bound.reset();
        assertThat(bound.position()).isEqualTo(Position.START);
    }

    /** Nobody ever sweeps here, so that a message behind a bound would stay. */
    @Test
    void nothingIsLeftBehindTheBoundsOfClaimersWhileTransactionsCommitInAnyOrder() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS + CLAIMERS);
        try {
            long end = System.nanoTime() + RUN_NANOS;
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                writers.add(threads.submit(() -> {
                    while (System.nanoTime() < end) {
                        write();
                    }
                    return null;
                }));
            }
            List<Future<ClaimBound>> claimers = new ArrayList<>();
            for (int i = 0; i < CLAIMERS; i++) {
                claimers.add(threads.submit(() -> claimWhile(writers)));
            }
            for (Future<ClaimBound> claimer : claimers) {
                assertThat(claimer.get().position()).isGreaterThan(Position.START);
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(database.count("status = 0")).isZero();
        assertThat(database.count("1 = 1")).isEqualTo(written.get()).isGreaterThan(100);
    }

    /** A business transaction: messages early and late in it, some undone, and a commit after any time. */
    private void write() throws SQLException {
        Random random = ThreadLocalRandom.current();
        int messages = 1 + random.nextInt(3);
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < messages; i++) {
                var savepoint = connection.setSavepoint();
                linger(random);
                enqueue(connection);
                if (random.nextInt(4) == 0) {
                    connection.rollback(savepoint);
                    enqueue(connection);
                }
            }
            linger(random);
            connection.commit();
            connection.setAutoCommit(true);
        }
        written.addAndGet(messages);
    }

    private static void linger(Random random) {
        LockSupport.parkNanos(random.nextInt(10) == 0 ? 100_000_000 : random.nextInt(15_000_000));
    }

    /** Claims until the writers have ended and nothing more is found; some of what it takes it gives back at once. */
    private ClaimBound claimWhile(List<Future<?>> writers) throws SQLException {
        ClaimBound bound = new ClaimBound();
        while (true) {
            boolean over = writers.stream().allMatch(Future::isDone);
            List<Claimed<UUID>> claimed = claim(bound);
            if (ThreadLocalRandom.current().nextInt(5) == 0 && !over) {
                giveBack(claimed);
            }
            if (over && claimed.isEmpty() && lastLook(bound)) {
                return bound;
            }
        }
    }

    /** What the other claimer gave back a moment ago is found by one more look. */
    private boolean lastLook(ClaimBound bound) throws SQLException {
        return claim(bound).isEmpty();
    }

    private static List<Claimed<UUID>> claim(ClaimBound bound) throws SQLException {
        UUID owner = UUID.randomUUID();
        List<Claimed<UUID>> claimed = routines()
                .once(connection -> routines()
                        .call(connection, "outbox_claim")
                        .uuid(owner)
                        .duration(Duration.ofHours(1))
                        .integer(BATCH)
                        .texts(List.of("topic"))
                        .integers(List.of(BATCH))
                        .instants(List.of(bound.position().at()))
                        .uuids(List.of(bound.position().id()))
                        .claimed(List.of(), rows -> {
                            Call.RowMapper<Proof> proof = routines().dialect().proofs(rows);
                            return row -> {
                                UUID id = row.getObject("id", UUID.class);
                                Position position = new Position(
                                        row.getObject("next_attempt_at", OffsetDateTime.class)
                                                .toInstant(),
                                        id);
                                return new Claimed<>(
                                        id,
                                        owner,
                                        "topic",
                                        0,
                                        0,
                                        0,
                                        0,
                                        false,
                                        false,
                                        false,
                                        4,
                                        false,
                                        0,
                                        0,
                                        position,
                                        proof.map(row),
                                        id,
                                        null);
                            };
                        }));
        bound.advance(claimed, claimed.size() < BATCH);
        return claimed;
    }

    private static void giveBack(List<Claimed<UUID>> claimed) throws SQLException {
        routines()
                .once(connection -> routines()
                        .call(connection, "outbox_abandon")
                        .uuids(claimed.stream().map(Claimed::id).toList())
                        .uuids(claimed.stream().map(Claimed::owner).toList())
                        .durations(claimed.stream().map(each -> Duration.ZERO).toList())
                        .texts(null)
                        .list(row -> row.getInt("changed")));
    }

    private static void enqueue() throws SQLException {
        routines().once(connection -> {
            enqueue(connection);
            return true;
        });
    }

    private static void enqueue(Connection connection) throws SQLException {
        routines().call(connection, "outbox_enqueue").text("topic").text("").list(row -> row);
    }

    private static Database routines() {
        return new Database(database.dataSource(), new PostgresDialect(), database.schema(), "test");
    }
}
