package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Feature;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The end of stores, and of all of them. */
final class FleetClosingTest {
    private static final int STORES = 2;

    @RegisterExtension
    static final TestStores databases = new TestStores("closing", STORES);

    private final List<Store> now = new CopyOnWriteArrayList<>(databases.all());
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger();

    @AfterEach
    void clear() throws SQLException {
        goOn.countDown();
        databases.clear();
    }

    private Fleet handling(Duration grace) {
        return Fleet.discovering(() -> List.copyOf(now))
                .each(windlass -> windlass.only(Feature.OUTBOX)
                        .options(WindlassOptions.defaults().withShutdownGrace(grace))
                        .outboxHandler("a", message -> {
                            begun.incrementAndGet();
                            goOn.await();
                        }))
                .start();
    }

    private Fleet handling() {
        return handling(Duration.ofSeconds(30));
    }

    private void begin(Fleet fleet, int store) {
        fleet.at(databases.id(store)).outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> begun.get() == 1);
    }

    private static StoreState closing(int store) {
        return new StoreState(databases.id(store), StoreState.Status.CLOSING, Optional.empty());
    }

    private static void assertIsHandled(int store) throws SQLException {
        assertThat(databases.count(store, "outbox where status = 2")).isEqualTo(1);
    }

    @Test
    void aStoreThatIsRemovedFinishesWhatItHasBegun() throws SQLException {
        try (Fleet fleet = handling()) {
            begin(fleet, 1);
            now.remove(1);
            fleet.refresh();
            assertThat(fleet.stores()).contains(closing(1));
            goOn.countDown();
            eventually().until(() -> fleet.stores().size() == 1);
            assertIsHandled(1);
        }
    }

    @Test
    void theEndOfAllWaitsForAStoreThatWasRemovedBefore() throws Exception {
        Fleet fleet = handling();
        begin(fleet, 1);
        now.remove(1);
        fleet.refresh();
        CompletableFuture<Void> end = CompletableFuture.runAsync(fleet::close);
        Thread.sleep(300);
        assertThat(end).isNotDone();
        assertThat(fleet.stores()).containsExactly(closing(1));

        goOn.countDown();
        end.get();
        assertIsHandled(1);
    }

    @Test
    void aStoreThatIsClosedTwiceAtATimeIsNamedUntilBothHaveEnded() throws SQLException {
        try (Fleet fleet = handling()) {
            begin(fleet, 1);
            now.set(1, Store.opening(databases.id(1), "another way", () -> databases.source(databases.id(1))));
            fleet.refresh();
            Windlass second = fleet.at(databases.id(1));
            now.remove(1);
            fleet.refresh();
            eventually().until(() -> !second.isRunning());
            assertThat(fleet.stores()).contains(closing(1));

            goOn.countDown();
            eventually().until(() -> fleet.stores().size() == 1);
            assertIsHandled(1);
        }
    }

    @Test
    void noStoreIsOpenedAfterTheEnd() throws Exception {
        AtomicInteger opened = new AtomicInteger();
        CountDownLatch opening = new CountDownLatch(1);
        Fleet fleet = Fleet.discovering(() -> List.copyOf(now))
                .options(FleetOptions.defaults().withParallelism(1))
                .ensureSchema()
                .start();
        for (int i = 0; i < 10; i++) {
            now.add(Store.opening("late" + i, "late", () -> {
                        opened.incrementAndGet();
                        opening.countDown();
                        goOn.await();
                        return databases.source(databases.id(0));
                    })
                    .withSchema("late" + i));
        }
        CompletableFuture<Void> refresh = CompletableFuture.runAsync(fleet::refresh);
        opening.await();
        CompletableFuture<Void> end = CompletableFuture.runAsync(fleet::close);
        Thread.sleep(300);
        assertThat(end).as("waits for the one that is being opened").isNotDone();

        goOn.countDown();
        end.get();
        refresh.get();
        assertThat(opened).hasValue(1);
        assertThat(databases.hasSchema(0, "late0")).isFalse();
    }

    @Test
    void anInterruptEndsTheGracePeriodOfAllStores() throws Exception {
        Fleet fleet = handling(Duration.ofHours(1));
        begin(fleet, 1);
        Thread end = new Thread(fleet::close);
        end.start();
        Thread second = new Thread(fleet::close);
        eventually().until(() -> fleet.stores().equals(List.of(closing(1))));
        second.start();
        second.join(300);
        assertThat(second.isAlive()).as("waits for the first").isTrue();

        end.interrupt();
        end.join();
        second.join();
        assertThat(databases.count(1, "outbox where status = 0")).isEqualTo(1);
    }

    @Test
    void closingOnAnInterruptedThreadClosesEveryStore() {
        Fleet fleet = handling();
        List<Windlass> all = List.of(fleet.at(databases.id(0)), fleet.at(databases.id(1)));
        Thread.currentThread().interrupt();
        fleet.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(all).noneMatch(Windlass::isRunning);
    }
}
