package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How often a claimer looks, and from where. */
@SuppressWarnings("try") // a node is there to run, not to be called
final class ClaimPaceTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final AtomicInteger claims = new AtomicInteger();
    private final AtomicInteger handled = new AtomicInteger();

    private HinderedNode node(HinderedStore store) {
        return new HinderedNode(
                database, store, Duration.ofMinutes(1), (message, cancellation) -> handled.incrementAndGet());
    }

    /** Looks at all features come so rarely that only claims count. */
    private HinderedNode restingLong(HinderedStore store) {
        return new HinderedNode(
                database,
                store,
                Duration.ofMinutes(1),
                new Handling<>((message, cancellation) -> handled.incrementAndGet(), HandlerOptions.defaults()),
                Events.NONE,
                Duration.ofMillis(250),
                Duration.ofMinutes(1));
    }

    /** As when it outlasts the longest call, beside a snapshot that is held open for long. */
    @Test
    void aSweepThatAlwaysFailsDoesNotKeepTheClaimerFromItsWork() throws Exception {
        AtomicBoolean bounded = new AtomicBoolean();
        AtomicBoolean tooLong = new AtomicBoolean();
        HinderedStore store = new HinderedStore(database) {
            @Override
            public List<Claimed<OutboxMessage>> claim(
                    Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
                    throws SQLException {
                boolean fromStart = demands.get(0).isFromStart();
                bounded.set(!fromStart);
                if (tooLong.get() && (fromStart || claims.incrementAndGet() == 1)) {
                    throw lostAnswer();
                }
                return super.claim(connection, owner, lease, limit, bytes, demands);
            }
        };
        try (HinderedNode node = node(store)) {
            eventually().until(() -> {
                database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
                return bounded.get();
            });
            tooLong.set(true);
            int before = handled.get();
            eventually().until(() -> claims.get() > 0);
            eventually().until(() -> {
                database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
                return handled.get() > before + 3;
            });
        }
    }

    /** To let time pass is all that can be shown: ten looks at the polling interval take that long at least. */
    @Test
    void aReadyRowThatSomebodyHasLockedIsLookedForAtThePollingInterval() throws Exception {
        HinderedStore store = new HinderedStore(database) {
            @Override
            public List<Claimed<OutboxMessage>> claim(
                    Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
                    throws SQLException {
                claims.incrementAndGet();
                return super.claim(connection, owner, lease, limit, bytes, demands);
            }
        };
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        try (Connection locker = database.owner().getConnection()) {
            locker.setAutoCommit(false);
            locker.createStatement().execute("select from \"" + database.schema() + "\".outbox for update");
            try (HinderedNode node = restingLong(store)) {
                eventually().until(() -> claims.get() >= 5);
                long began =
                        System.nanoTime(); // first: a test that is held up between the two must not see less time pass
                int before = claims.get();
                eventually().until(() -> claims.get() >= before + 10);
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(1500));
                locker.rollback();
                eventually().until(() -> handled.get() == 1);
            }
        }
    }

    /**
     * To let time pass is all that can be shown. Pauses are never cut short, however slow the machine; and that one is short again
     * after work has only to be seen once.
     */
    @Test
    @Shows("OBX-122")
    void anIdleNodeLooksLessAndLessOftenUntilThereIsWorkAgain() throws Exception {
        Duration shortest = Duration.ofMillis(20);
        Duration longest = Duration.ofMillis(900);
        List<Long> looks = new CopyOnWriteArrayList<>();
        HinderedStore store = new HinderedStore(database) {
            @Override
            public List<Claimed<OutboxMessage>> claim(
                    Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
                    throws SQLException {
                looks.add(System.nanoTime());
                return super.claim(connection, owner, lease, limit, bytes, demands);
            }

            @Override
            public Call look(Connection connection, @Nullable List<String> topics, boolean others) {
                looks.add(System.nanoTime());
                return super.look(connection, topics, others);
            }
        };
        Handling<OutboxMessage> handling =
                new Handling<>((message, cancellation) -> handled.incrementAndGet(), HandlerOptions.defaults());
        try (HinderedNode node =
                new HinderedNode(database, store, Duration.ofMinutes(1), handling, Events.NONE, shortest, longest)) {
            eventually()
                    .until(() -> pauses(looks, looks.size() - 4).stream()
                                    .filter(pause -> pause.compareTo(longest) >= 0)
                                    .count()
                            == 3);
            assertThat(looks).as("doubled pauses take few looks").hasSizeLessThan(20);

            eventually().until(() -> {
                database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
                int before = handled.get();
                int found = looks.size();
                eventually().until(() -> handled.get() > before && looks.size() > found + 1);
                return pauses(looks, found).stream().anyMatch(pause -> pause.compareTo(longest.dividedBy(3)) < 0);
            });
        }
    }

    /** Between looks, from this one on. */
    private static List<Duration> pauses(List<Long> looks, int from) {
        return IntStream.range(Math.max(1, from + 1), looks.size())
                .mapToObj(i -> Duration.ofNanos(looks.get(i) - looks.get(i - 1)))
                .toList();
    }
}
