package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.WindlassOptions;
import dev.windlass.node.Link;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Databases that hang, are away, come and go, beside others. */
final class ManyStoresTest {
    private static final int STORES = 20;
    private static final int BUSY = 3;
    private static final int MANY = 1_000;
    private static final int CONCURRENCY = 32;
    private static final int KEPT = 8;

    @RegisterExtension
    static final TestStores databases = new TestStores("many", STORES);

    private static final FleetOptions OPTIONS = FleetOptions.defaults()
            .withConcurrency(CONCURRENCY)
            .withInHand(1_000)
            .withKeptConnections(KEPT);

    private final Map<String, Integer> handled = new ConcurrentHashMap<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    /** How many messages of the busy ones may still be handled. */
    private final Semaphore busyPasses = new Semaphore(Integer.MAX_VALUE / 2);

    @BeforeEach
    void clear() throws SQLException {
        databases.clear();
    }

    private FleetBuilder handling(FleetBuilder builder) {
        List<String> busy = IntStream.range(0, BUSY).mapToObj(databases::id).toList();
        return builder.options(OPTIONS)
                .each((store, windlass) -> windlass.options(WindlassOptions.defaults()
                                .withMaxPollingInterval(Duration.ofSeconds(2))
                                .withShutdownGrace(Duration.ofSeconds(5)))
                        .outboxHandler("a", message -> {
                            most.accumulateAndGet(running.incrementAndGet(), Math::max);
                            if (busy.contains(store.id())) {
                                busyPasses.acquire();
                            }
                            Thread.sleep(1);
                            handled.merge(store.id(), 1, Integer::sum);
                            running.decrementAndGet();
                        }));
    }

    private static List<OutboxEntry> entries(int count) {
        return Collections.nCopies(count, OutboxEntry.of("a", "x"));
    }

    private int handled(int store) {
        return handled.getOrDefault(databases.id(store), 0);
    }

    /**
     * A few have much to do; the others get their message through beside them, with few connections, places and threads. The busy ones
     * take all the places that they may, and one of their messages ends at each look: they have enough for longer than anybody is waited for.
     */
    @Test
    void unevenLoadStarvesNobodyAndConnectionsAndThreadsAreBounded() throws Exception {
        try (Fleet fleet = handling(Fleet.over(databases.all())).start()) {
            assertThat(fleet.stores()).allMatch(store -> store.status() == StoreState.Status.OPEN);
            busyPasses.drainPermits();
            for (int i = 0; i < BUSY; i++) {
                fleet.at(databases.id(i)).outbox().enqueueAll(entries(MANY));
            }
            eventually().until(() -> running.get() >= CONCURRENCY / 2);
            for (int i = BUSY; i < STORES; i++) {
                fleet.at(databases.id(i)).outbox().enqueue(OutboxEntry.of("a", "x"));
            }
            eventually().until(() -> {
                busyPasses.release();
                return IntStream.range(BUSY, STORES).allMatch(i -> handled(i) == 1);
            });
            int threads = (int) Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("windlass"))
                    .count();
            assertThat(threads).isLessThan(2 * CONCURRENCY + 50);
            assertThat(databases.sessions("query like 'listen%' or query like '%heartbeat%'"))
                    .isLessThanOrEqualTo(KEPT);
            busyPasses.release(BUSY * MANY);
            eventually().until(() -> IntStream.range(0, BUSY).allMatch(i -> handled(i) == MANY));
            assertThat(most.get()).isLessThanOrEqualTo(CONCURRENCY);
        }
        for (int i = 0; i < STORES; i++) {
            assertThat(databases.count(i, "outbox where status <> 2")).isZero();
        }
    }

    /** One accepts connections and never answers, one is away: the others do not notice. */
    @Test
    void whatHangsOrIsAwayHarmsNoOther() throws Exception {
        try (Link link = new Link(databases.port())) {
            List<Store> stores = new ArrayList<>(
                    IntStream.range(2, 20).mapToObj(databases::store).toList());
            stores.add(databases.store(0, link.port()));
            stores.add(Store.opening("away", "away", () -> TestStores.pool(databases.source("x", 1))));
            try (Fleet fleet = handling(Fleet.over(stores)).start()) {
                fleet.at(databases.id(0)).outbox().enqueueAll(entries(10));
                eventually().until(() -> handled(0) == 10);
                fleet.at(databases.id(0)).outbox().enqueueAll(entries(500));
                link.freeze();
                for (int i = 2; i < 20; i++) {
                    fleet.at(databases.id(i)).outbox().enqueueAll(entries(100));
                }
                eventually().until(() -> IntStream.range(2, 20).allMatch(i -> handled(i) == 100));
            }
        }
    }

    /** From the beginning on, and in the same pool as all others. */
    @Test
    void whatNeverAnswersAndWhatIsDownTakesNothingFromOthersOfItsPool() throws Exception {
        try (ServerSocket neverAnswers = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                SharedConnections connections = SharedConnections.atMost(16)) {
            List<Store> stores = new ArrayList<>();
            stores.add(Store.of("hangs", connections.to(databases.source("x", neverAnswers.getLocalPort()))));
            stores.add(Store.of("down", connections.to(databases.source("x", 1))));
            IntStream.range(0, 8)
                    .mapToObj(databases::id)
                    .forEach(id -> stores.add(Store.of(id, connections.to(databases.source(id)))));
            try (Fleet fleet = handling(Fleet.over(stores)).start()) {
                for (int i = 0; i < 8; i++) {
                    fleet.at(databases.id(i)).outbox().enqueueAll(entries(100));
                }
                eventually().until(() -> IntStream.range(0, 8).allMatch(i -> handled(i) == 100));
                assertThat(fleet.stores())
                        .contains(new StoreState("hangs", StoreState.Status.OPENING, Optional.empty()));
            }
        }
    }

    @Test
    void databasesComeAndGoUnderLoadAndNothingIsLost() throws Exception {
        List<Store> now = Collections.synchronizedList(new ArrayList<>(
                IntStream.range(0, 10).mapToObj(databases::store).toList()));
        try (Fleet fleet = handling(Fleet.discovering(() -> List.copyOf(now))).start()) {
            for (int i = 0; i < 10; i++) {
                fleet.at(databases.id(i)).outbox().enqueueAll(entries(200));
            }
            for (int i = 10; i < 20; i++) {
                now.remove(0);
                now.add(databases.store(i));
                fleet.refresh();
                fleet.at(databases.id(i)).outbox().enqueueAll(entries(200));
            }
            now.addAll(IntStream.range(0, 10).mapToObj(databases::store).toList());
            fleet.refresh();
            eventually().until(() -> IntStream.range(0, 20).allMatch(i -> handled(i) >= 200));
        }
        for (int i = 0; i < 20; i++) {
            assertThat(databases.count(i, "outbox where status <> 2")).isZero();
        }
    }
}
