package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;

import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.loop.Chore;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a node does beside its work: reaping, expiring, cleaning, forgetting, warning. */
@SuppressWarnings("try") // a node is there to run, not to be called
final class ChoresTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final Set<String> ALL = Set.of("reap", "expire", "clean", "forget");

    private final Map<String, Integer> done = new ConcurrentHashMap<>();

    /** A store that counts the chores, and in which they may fail. */
    private class Counting extends HinderedStore {
        Counting() {
            super(database);
        }

        int count(String chore) throws SQLException {
            return done.merge(chore, 1, Integer::sum);
        }

        @Override
        public int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException {
            count("reap");
            return super.reap(connection, quiet, limit, watched);
        }

        @Override
        public int expire(Connection connection, int limit) throws SQLException {
            count("expire");
            return super.expire(connection, limit);
        }

        @Override
        public Cleaned clean(Connection connection, int limit, Instant after) throws SQLException {
            count("clean");
            return super.clean(connection, limit, after);
        }

        @Override
        public Map<String, Upkeep> upkeep() {
            Upkeep real = Objects.requireNonNull(super.upkeep().get("forgetting deduplication keys"));
            return Map.of("forgetting", (connection, limit) -> {
                count("forget");
                return real.run(connection, limit);
            });
        }
    }

    /** While something is in progress, a node looks after leases. */
    private static HinderedNode node(HinderedStore store) {
        Outbox outbox = database.passive().outbox();
        outbox.enqueue(OutboxEntry.of("b", "{}"));
        outbox.claim(OwnerToken.fresh(), Duration.ofHours(1), 1);
        return new HinderedNode(database, store, LEASE, (message, cancellation) -> {});
    }

    @ParameterizedTest
    @ValueSource(strings = {"reap", "expire", "clean", "forget"})
    void anErrorInOneKeepsNoOtherFromBeingDone(String failing) throws Exception {
        Counting store = new Counting() {
            @Override
            int count(String chore) throws SQLException {
                int times = super.count(chore);
                if (chore.equals(failing)) {
                    throw new SQLException("refused", "22000");
                }
                return times;
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> done.keySet().equals(ALL));
            eventually().until(() -> done.getOrDefault("reap", 0) >= 3 && done.getOrDefault("expire", 0) >= 3);
        }
    }

    @Test
    void oneThatCannotBeDeletedDoesNotSlowTheOthers() throws Exception {
        Counting store = new Counting() {
            @Override
            public Cleaned clean(Connection connection, int limit, Instant after) throws SQLException {
                return new Cleaned(count("clean") > 20 ? 0 : limit - 1, Optional.empty());
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> done.getOrDefault("clean", 0) > 20);
        }
    }

    @Test
    void manyThatCannotBeReapedHideNoOther() throws Exception {
        Counting store = new Counting() {
            @Override
            public int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException {
                if (limit <= 2 * Chore.BATCH) {
                    throw new SQLException("refused", "23514");
                }
                count("far");
                return 0;
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> done.containsKey("far"));
        }
    }

    @Test
    void reapingDoesNotWaitForCleaningThatHasNoEnd() throws Exception {
        Counting store = new Counting() {
            @Override
            public Cleaned clean(Connection connection, int limit, Instant after) throws SQLException {
                count("clean");
                return new Cleaned(Chore.BATCH, Optional.empty());
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> done.getOrDefault("clean", 0) > 10 && done.getOrDefault("reap", 0) >= 4);
        }
    }

    @Test
    void reapingDoesNotWaitForCleaningThatHangs() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        Counting store = new Counting() {
            @Override
            public Cleaned clean(Connection connection, int limit, Instant after) throws SQLException {
                count("clean");
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return new Cleaned(0, Optional.empty());
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> done.containsKey("clean") && done.getOrDefault("reap", 0) >= 4);
            goOn.countDown();
        }
    }

    @Test
    void reapingComesFirstAgainWhenThereIsMoreToExpire() throws Exception {
        Counting store = new Counting() {
            @Override
            public int expire(Connection connection, int limit) throws SQLException {
                count("expire");
                return Chore.BATCH;
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> done.getOrDefault("reap", 0) > 20);
        }
    }
}
