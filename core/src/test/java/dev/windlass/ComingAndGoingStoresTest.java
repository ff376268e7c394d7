package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Store;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Databases are added and removed while all of them are written to. */
final class ComingAndGoingStoresTest {
    private static final int STORES = 8;
    private static final int AT_FIRST = 5;
    private static final int REMOVED = 3;
    private static final int SOME = 100;

    @RegisterExtension
    static final TestStores databases = new TestStores("going", STORES);

    private final List<Store> now = new CopyOnWriteArrayList<>(
            IntStream.range(0, AT_FIRST).mapToObj(databases::store).toList());
    private final Map<String, Set<String>> committed = new ConcurrentHashMap<>();
    private final Map<String, Set<String>> handled = new ConcurrentHashMap<>();

    @Test
    void whatWasCommittedIsHandledOrStillReadyAndNothingIsLeftInProgress() throws Exception {
        try (Fleet fleet = Fleet.discovering(() -> now)
                        .options(FleetOptions.defaults().withConcurrency(8).withInHand(200))
                        .each(this::describe)
                        .start();
                Writers writers = new Writers()) {
            writers.start(fleet);
            awaitSome(0, AT_FIRST, committed);
            now.addAll(
                    IntStream.range(AT_FIRST, STORES).mapToObj(databases::store).toList());
            now.subList(0, REMOVED).clear();
            fleet.refresh();
            eventually().until(() -> fleet.stores().size() == STORES - REMOVED);
            assertNothingIsLost(0, REMOVED);
            awaitSome(REMOVED, STORES, handled);
        }
        assertNothingIsLost(0, STORES);
        assertThat(handled).containsOnlyKeys(committed.keySet());
    }

    private void describe(Store store, WindlassBuilder windlass) {
        windlass.options(WindlassOptions.defaults().withShutdownGrace(Duration.ofSeconds(30)))
                .outboxHandler("a", message -> {
                    Thread.sleep(1);
                    of(handled, store.id()).add(message.payload());
                });
    }

    /** A thread for each store that writes whenever the fleet has it, and notes what it was told to be committed. */
    private final class Writers implements AutoCloseable {
        private final ExecutorService threads = Executors.newFixedThreadPool(STORES);
        private final List<CompletableFuture<?>> all = new ArrayList<>();
        private volatile boolean enough;

        void start(Fleet fleet) {
            for (int i = 0; i < STORES; i++) {
                String store = databases.id(i);
                all.add(CompletableFuture.runAsync(() -> write(fleet, store), threads));
            }
        }

        private void write(Fleet fleet, String store) {
            for (int i = 0; !enough; i++) {
                try {
                    fleet.at(store).outbox().enqueue(OutboxEntry.of("a", store + " " + i));
                    of(committed, store).add(store + " " + i);
                } catch (WindlassException e) {
                    LockSupport.parkNanos(1_000_000); // it is not there yet, or no more
                }
            }
        }

        @Override
        public void close() {
            enough = true;
            all.forEach(CompletableFuture::join);
            threads.shutdown();
        }
    }

    private static Set<String> of(Map<String, Set<String>> all, String store) {
        return all.computeIfAbsent(store, id -> ConcurrentHashMap.newKeySet());
    }

    private static void awaitSome(int from, int to, Map<String, Set<String>> what) {
        eventually()
                .until(() -> IntStream.range(from, to)
                        .allMatch(i -> of(what, databases.id(i)).size() > SOME));
    }

    private void assertNothingIsLost(int from, int to) throws SQLException {
        for (int i = from; i < to; i++) {
            String store = databases.id(i);
            assertThat(databases.count(i, "outbox where status not in (0, 2)"))
                    .as("neither ready nor handled in %s", store)
                    .isZero();
            List<String> done = databases.payloads(i, 2);
            assertThat(of(handled, store)).as("handled in %s", store).containsAll(done);
            Set<String> there = new HashSet<>(done);
            there.addAll(databases.payloads(i, 0));
            assertThat(there).as("stored in %s", store).containsAll(of(committed, store));
        }
    }
}
