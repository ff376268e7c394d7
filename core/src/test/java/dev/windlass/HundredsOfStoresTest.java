package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Feature;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Many more databases of one server than connections of the one pool before them, with uneven load: two hundred among the long runs
 * ({@code mvn verify -Psoak}), and else no more than show the same, since to make and drop a database takes longer than what is tested.
 */
@Tag("also-soak")
final class HundredsOfStoresTest {
    private static final int STORES = Integer.getInteger("windlass.stores", 80);
    private static final int SLOW_ONES = 8;
    private static final int BIG_ONES = 4;
    private static final int FIRST_SMALL = SLOW_ONES + BIG_ONES;
    private static final int SMALL_ONES = STORES - FIRST_SMALL;
    private static final int BACKLOG = 1_000;
    private static final int SLOW_MESSAGES = 10;
    private static final int FEW = 3;
    private static final int ALL = BIG_ONES * BACKLOG + SLOW_ONES * SLOW_MESSAGES + SMALL_ONES * FEW;
    private static final int CONNECTIONS = 32;

    private static final FleetOptions OPTIONS = FleetOptions.defaults()
            .withConcurrency(32)
            .withInHand(500)
            .withClaimsAtOnce(4)
            .withKeptConnections(8);

    /**
     * A timer; one for each handler, for each store that is being opened and for each that listens; one for each call that is under
     * way; and one for each store, since all may have outcomes to write at once, and wait for a connection.
     */
    private static final int THREADS =
            1 + OPTIONS.concurrency() + OPTIONS.parallelism() + OPTIONS.keptConnections() + CONNECTIONS + STORES;

    /**
     * Whatever looks at a store costs a new connection here, since there are fewer than stores: so nobody looks without need. What
     * this process writes is found without.
     */
    private static final OutboxOptions LOOKS_SELDOM =
            OutboxOptions.defaults().withPollingInterval(Duration.ofSeconds(5)).withLease(Duration.ofMinutes(10));

    @RegisterExtension
    static final TestStores databases = new TestStores("hundreds", STORES).only(Feature.OUTBOX);

    /** The stores whose messages have been handled, in this order. */
    private final List<String> handled = Collections.synchronizedList(new ArrayList<>());

    private final CountDownLatch slowOnesHaveBegun = new CountDownLatch(SLOW_ONES);
    private final CountDownLatch allIsWritten = new CountDownLatch(1);
    private final CountDownLatch smallOnesAreDone = new CountDownLatch(SMALL_ONES * FEW);
    private int mostSessions;
    private int mostOpen;

    /** The handlers that take long begin first and wait for the small stores. If they kept those out, it would never end. */
    @Test
    void unevenLoadStarvesNobodyAndConnectionsAndThreadsAreBounded() throws Exception {
        try (SharedConnections connections = SharedConnections.atMost(CONNECTIONS);
                Fleet fleet = Fleet.over(stores(connections))
                        .options(OPTIONS)
                        .each(this::describe)
                        .start()) {
            assertThat(fleet.stores()).allMatch(store -> store.status() == StoreState.Status.OPEN);
            IntStream.range(0, SLOW_ONES).forEach(store -> write(fleet, store, "slow", SLOW_MESSAGES));
            eventually().until(() -> slowOnesHaveBegun.getCount() == 0);
            IntStream.range(SLOW_ONES, FIRST_SMALL).forEach(store -> write(fleet, store, "big", BACKLOG));
            IntStream.range(FIRST_SMALL, STORES).forEach(store -> write(fleet, store, "small", FEW));
            allIsWritten.countDown();
            eventually().until(() -> {
                mostSessions = Math.max(mostSessions, databases.sessions("true"));
                mostOpen = Math.max(mostOpen, connections.open());
                return handled.size() == ALL;
            });
            assertThat(threads()).as("threads; they live on for a minute").isLessThanOrEqualTo(THREADS);
        }
        assertNoSmallStoreWaitedForABigOne();
        assertThat(mostOpen).isLessThanOrEqualTo(CONNECTIONS);
        assertThat(mostSessions)
                .as("a session that was closed to make room for another ends a moment later in the server")
                .isLessThanOrEqualTo(2 * CONNECTIONS);
        assertAllIsWrittenDownAsHandled();
    }

    private static List<Store> stores(SharedConnections connections) {
        return IntStream.range(0, STORES)
                .mapToObj(databases::id)
                .map(id -> Store.of(id, connections.to(databases.source(id))))
                .toList();
    }

    private void describe(Store store, WindlassBuilder windlass) {
        windlass.only(Feature.OUTBOX)
                .options(WindlassOptions.defaults().withShutdownGrace(Duration.ofSeconds(5)))
                .outbox(LOOKS_SELDOM)
                .outboxHandler("big", message -> {
                    allIsWritten.await();
                    handled.add(store.id());
                })
                .outboxHandler("slow", message -> {
                    slowOnesHaveBegun.countDown();
                    smallOnesAreDone.await();
                    handled.add(store.id());
                })
                .outboxHandler("small", message -> {
                    allIsWritten.await();
                    handled.add(store.id());
                    smallOnesAreDone.countDown();
                });
    }

    private static void write(Fleet fleet, int store, String topic, int count) {
        fleet.at(databases.id(store)).outbox().enqueueAll(Collections.nCopies(count, OutboxEntry.of(topic, "x")));
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("windlass-"))
                .count();
    }

    private void assertNoSmallStoreWaitedForABigOne() {
        List<String> small =
                IntStream.range(FIRST_SMALL, STORES).mapToObj(databases::id).toList();
        int last = ALL - 1;
        while (!small.contains(handled.get(last))) {
            last--;
        }
        List<String> until = handled.subList(0, last);
        assertThat(IntStream.range(SLOW_ONES, FIRST_SMALL).mapToObj(databases::id))
                .allSatisfy(big -> assertThat(Collections.frequency(until, big))
                        .as("handled in %s, of %d, before the last of a small store", big, BACKLOG)
                        .isLessThan(BACKLOG));
    }

    private static void assertAllIsWrittenDownAsHandled() throws SQLException {
        for (int i = 0; i < STORES; i++) {
            assertThat(databases.count(i, "outbox where status <> 2"))
                    .as(databases.id(i))
                    .isZero();
        }
    }
}
