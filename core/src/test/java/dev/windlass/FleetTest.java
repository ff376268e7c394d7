package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import ch.qos.logback.classic.Level;
import dev.windlass.base.Feature;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Shards;
import dev.windlass.store.Store;
import dev.windlass.store.StoreMigration;
import dev.windlass.store.StoreState;
import dev.windlass.store.UnknownStoreException;
import dev.windlass.work.WorkEntry;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** One program over several databases. */
final class FleetTest {
    private static final int STORES = 3;

    @RegisterExtension
    static final TestStores databases = new TestStores("fleet", STORES);

    private final Set<String> handled = ConcurrentHashMap.newKeySet();

    private FleetBuilder handling(FleetBuilder builder) {
        return builder.each((store, windlass) -> windlass.outboxHandler(
                        "a", message -> handled.add(store.id() + " " + message.payload()))
                .options(windlassOptions()));
    }

    private static WindlassOptions windlassOptions() {
        return WindlassOptions.defaults().withShutdownGrace(Duration.ofSeconds(5));
    }

    private static String id(int number) {
        return databases.id(number);
    }

    @Test
    @Shows({"OBX-066", "OBX-072", "OBX-121"})
    void eachStoreHasAnOutboxOfItsOwnThatItsKeyFinds() throws SQLException {
        try (Fleet fleet = handling(Fleet.over(databases.all())).start()) {
            for (int i = 0; i < STORES; i++) {
                Outbox outbox = fleet.outboxes().get(id(i));
                assertThat(outbox).isSameAs(fleet.at(id(i)).outbox());
                outbox.enqueue(OutboxEntry.of("a", "x" + i));
            }
            eventually().until(() -> handled.size() == STORES);
            assertThat(handled).containsExactlyInAnyOrder(id(0) + " x0", id(1) + " x1", id(2) + " x2");
            for (int i = 0; i < STORES; i++) {
                int number = i;
                eventually().until(() -> databases.count(number, "outbox where status = 2") >= 1);
            }
        }
    }

    @Test
    void aFleetThatIsBuiltBeginsWhenItIsStartedAndCanBeStartedAgain() {
        Fleet fleet = handling(Fleet.over(databases.all())).build();
        try (fleet) {
            assertThatExceptionOfType(WindlassException.class)
                    .isThrownBy(() -> fleet.at(id(0)))
                    .withMessageContaining("call start()");
            assertThat(fleet.start().start()).isSameAs(fleet);
            fleet.at(id(0)).outbox().enqueue(OutboxEntry.of("a", "first life"));
            eventually().until(() -> handled.contains(id(0) + " first life"));
            fleet.close();
            assertThatExceptionOfType(WindlassException.class)
                    .isThrownBy(() -> fleet.at(id(0)))
                    .withMessageContaining("closed");
            fleet.start().at(id(1)).outbox().enqueue(OutboxEntry.of("a", "second life"));
            eventually().until(() -> handled.contains(id(1) + " second life"));
            assertThat(fleet.health().ready().status()).isEqualTo(HealthStatus.HEALTHY);
        }
    }

    @Test
    @Shows({"OBX-073", "OBX-074"})
    void aKeyWithoutAStoreIsRefusedWithItsNameAndHowManyAreKnown() {
        UUID tenant = UUID.randomUUID();
        Store named = Store.of(tenant.toString(), databases.source(id(0)));
        try (Fleet fleet = Fleet.over(List.of(named)).start()) {
            assertThat(fleet.at(tenant)).isSameAs(fleet.at(tenant.toString()));
            assertThat(fleet.store(tenant.toString())).containsSame(fleet.at(tenant));
            assertThat(fleet.leases().get(tenant)).isSameAs(fleet.at(tenant).leases());
            assertThatExceptionOfType(UnknownStoreException.class)
                    .isThrownBy(() -> fleet.at("nobody"))
                    .withMessage("expected the key of a store, got \"nobody\"; 1 stores are known");
        }
    }

    @Test
    @Shows("OBX-070")
    void anIdentifierIsGivenOnceAndAListIsNotEmpty() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Fleet.over(List.of(databases.store(0), databases.store(0))))
                .withMessageContaining("different identifiers");
        assertThatIllegalArgumentException().isThrownBy(() -> Fleet.over(List.of()));
        try (Fleet fleet = Fleet.discovering(List::of).start()) {
            assertThat(fleet.stores()).isEmpty();
        }
    }

    @Test
    void anIdentifierStaysInItsLineOfTheLog() {
        for (String bad : List.of("a\nWARN forged", "a\u001b[31m", "a\u2028b")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Store.of(bad, databases.source(id(0))))
                    .withMessage("expected an identifier of a store without control characters, got one at index 1");
        }
    }

    @Test
    void aRoutingOrADiscoveryThatReturnsNullIsNamed() {
        try (Fleet fleet =
                Fleet.discovering(noStores()).routing(key -> nothing()).start()) {
            assertThatExceptionOfType(WindlassException.class)
                    .isThrownBy(fleet::refresh)
                    .withMessage("could not discover stores: expected a collection of stores, got null");
        }
        try (Fleet fleet = Fleet.discovering(List::of).routing(key -> nothing()).start()) {
            assertThat(fleet.store("somebody")).isEmpty();
            assertThatExceptionOfType(UnknownStoreException.class)
                    .isThrownBy(() -> fleet.at("somebody"))
                    .withMessage("expected the key of a store, got \"somebody\", for which the routing has none");
        }
    }

    private static DatabaseDiscovery noStores() {
        return FleetTest::nothing;
    }

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // as programs without such checks do
    private static <T> T nothing() {
        return null;
    }

    /** The usual proxy passes everything on, and asks what is behind it whether that is equal to the proxy. */
    @Test
    void aDataSourceThatIsNotEqualToItselfIsOpenedOnce() {
        DataSource source = databases.source(id(0));
        DataSource proxy = (DataSource) Proxy.newProxyInstance(
                FleetTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, arguments) -> method.invoke(source, arguments));
        AtomicInteger described = new AtomicInteger();
        try (Fleet fleet = Fleet.over(List.of(Store.of("proxy", proxy)))
                .each(windlass -> described.incrementAndGet())
                .start()) {
            assertThat(fleet.at("proxy").isRunning()).isTrue();
            fleet.refresh();
            assertThat(described).hasValue(1);
        }
    }

    @Test
    @Shows({"OBX-071", "OBX-107"})
    void logsNameTheStore() {
        try (Logs logs = Logs.collect(Level.INFO);
                Fleet fleet = Fleet.over(databases.all())
                        .each(windlass -> windlass.outboxHandler("a", message -> {
                            throw new PermanentFailure("no");
                        }))
                        .start()) {
            fleet.at(id(1)).outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> logs.count(Level.ERROR, "[" + id(1) + "]") == 1);
            assertThat(logs.count(Level.ERROR, "[" + id(0) + "]")).isZero();
        }
    }

    @Test
    void everyFeatureWorksInEachStore() {
        FleetBuilder builder = Fleet.over(databases.all())
                .each((store, windlass) -> windlass.outboxHandler(
                                "a", message -> handled.add(store.id() + " " + message.payload()))
                        .outboxHandler("step", message -> {})
                        .workHandler("q", "t", item -> handled.add(store.id() + " work"))
                        .inboxHandler("in", message -> handled.add(store.id() + " inbox"))
                        .job(Job.every("tick", Duration.ofSeconds(1)), message -> handled.add(store.id() + " job")));
        try (Fleet fleet = builder.start()) {
            for (int i = 0; i < STORES; i++) {
                Windlass windlass = fleet.at(id(i));
                assertThat(fleet.timers().get(id(i))).isSameAs(windlass.timers());
                windlass.timers().schedule(TimerEntry.of("a", "timer", Duration.ofMillis(50)));
                fleet.workQueues().get(id(i)).enqueue(WorkEntry.of("q", "t", "x"));
                fleet.inboxes()
                        .get(id(i))
                        .enqueue(InboxEntry.of("somebody", UUID.randomUUID().toString(), "in", "x"));
                assertThat(fleet.joins().get(id(i))).isSameAs(windlass.joins());
                fleet.outboxes()
                        .get(id(i))
                        .fanOut(
                                JoinEntry.of(1).withFollowUp(FollowUp.completed("a", "joined")),
                                List.of(OutboxEntry.of("step", "1")));
                assertThat(fleet.leases().get(id(i)).tryAcquire("same name", Duration.ofSeconds(10)))
                        .isPresent();
                assertThat(fleet.jobs().get(id(i)).list()).hasSize(1);
            }
            for (int i = 0; i < STORES; i++) {
                String store = id(i);
                eventually()
                        .untilAsserted(() -> assertThat(handled)
                                .contains(
                                        store + " timer",
                                        store + " work",
                                        store + " inbox",
                                        store + " joined",
                                        store + " job"));
            }
        }
    }

    /** By its ticker, which has to be told of it: the next look comes late. */
    @Test
    void aNewJobFiresInAStoreThatLooksSeldom() {
        FleetBuilder builder = Fleet.over(databases.all())
                .each((store, windlass) -> windlass.only(Feature.OUTBOX, Feature.SCHEDULE)
                        .options(windlassOptions().withMaxPollingInterval(Duration.ofMinutes(10)))
                        .job(Job.every("new", Duration.ofSeconds(1)), message -> handled.add(store.id())));
        try (Fleet fleet = builder.start()) {
            eventually().until(() -> handled.size() == STORES);
            databases.all().forEach(store -> fleet.jobs().get(store.id()).delete("new"));
        }
    }

    @Test
    @Shows({"OBX-075", "OBX-077", "OBX-078", "OBX-079"})
    void discoveryAddsRemovesAndReplacesStoresAndLeavesTheOthersAlone() {
        List<Store> now = Collections.synchronizedList(new ArrayList<>(List.of(databases.store(0))));
        AtomicInteger asked = new AtomicInteger();
        FleetBuilder builder = handling(Fleet.discovering(() -> {
            asked.incrementAndGet();
            return List.copyOf(now);
        }));
        try (Fleet fleet = builder.options(FleetOptions.defaults().withRefreshEvery(Duration.ofMillis(50)))
                .start()) {
            Windlass first = fleet.at(id(0));
            now.add(databases.store(1));
            eventually().until(() -> fleet.stores().size() == 2);
            Windlass second = fleet.at(id(1));
            second.outbox().enqueue(OutboxEntry.of("a", "new"));
            eventually().until(() -> handled.contains(id(1) + " new"));

            now.set(1, Store.opening(id(1), "another way", () -> TestStores.pool(databases.source(id(1)))));
            eventually().until(() -> fleet.at(id(1)) != second);
            eventually().until(() -> !second.isRunning());
            now.remove(1);
            eventually().until(() -> fleet.stores().size() == 1);
            assertThatExceptionOfType(UnknownStoreException.class).isThrownBy(() -> fleet.at(id(1)));

            int before = asked.get();
            eventually().until(() -> asked.get() > before + 2);
            assertThat(fleet.at(id(0))).isSameAs(first);
            assertThat(first.isRunning()).isTrue();
        }
    }

    @Test
    @Shows("OBX-076")
    void discoveryIsAskedEveryFiveMinutes() {
        assertThat(FleetOptions.defaults().refreshEvery()).isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void aDiscoveryThatFailsOrNamesOneTwiceKeepsWhatIsKnown() {
        List<Store> now = Collections.synchronizedList(new ArrayList<>(List.of(databases.store(0))));
        AtomicInteger asked = new AtomicInteger();
        try (Logs logs = Logs.collect(Level.INFO);
                Fleet fleet = Fleet.discovering(() -> {
                            asked.incrementAndGet();
                            if (now.isEmpty()) {
                                throw new IllegalStateException("secret");
                            }
                            return List.copyOf(now);
                        })
                        .options(FleetOptions.defaults().withRefreshEvery(Duration.ofMillis(50)))
                        .start()) {
            Windlass first = fleet.at(id(0));
            now.clear();
            int before = asked.get();
            eventually().until(() -> asked.get() > before + 2);
            now.addAll(List.of(databases.store(0), databases.store(0)));
            int second = asked.get();
            eventually().until(() -> asked.get() > second + 2);

            assertThat(fleet.at(id(0))).isSameAs(first);
            assertThat(first.isRunning()).isTrue();
            assertThatExceptionOfType(WindlassException.class)
                    .isThrownBy(fleet::refresh)
                    .withMessageContaining(id(0));
            assertThat(logs.count(Level.WARN, "going on with the 1 stores that are known"))
                    .isEqualTo(1);
            assertThat(logs.lines()).noneMatch(line -> line.text().contains("secret"));
        }
    }

    @Test
    void aStoreWhoseDatabaseIsAwayIsOpenAndSaysSo() {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        nowhere.setURL("jdbc:postgresql://localhost:1/nowhere");
        try (Fleet fleet = handling(Fleet.over(List.of(databases.store(0), Store.of("away", nowhere))))
                .start()) {
            assertThat(fleet.stores())
                    .contains(
                            new StoreState(id(0), StoreState.Status.OPEN, Optional.empty()),
                            new StoreState(
                                    "away", StoreState.Status.OPEN, Optional.of("its database does not answer")));
        }
    }

    @Test
    void aStoreThatCannotBeOpenedIsTriedAgainAndDisturbsNoOther() {
        AtomicInteger tries = new AtomicInteger();
        Store late = Store.opening(id(1), "late", () -> {
            if (tries.incrementAndGet() < 3) {
                throw new IllegalStateException("secret");
            }
            return TestStores.pool(databases.source(id(1)));
        });
        Store without = Store.of("without", databases.source("postgres"));
        try (Logs logs = Logs.collect(Level.INFO);
                Fleet fleet = handling(Fleet.over(List.of(databases.store(0), late, without)))
                        .start()) {
            assertThat(fleet.stores())
                    .extracting(StoreState::status)
                    .containsExactly(StoreState.Status.OPEN, StoreState.Status.FAILED, StoreState.Status.FAILED);
            assertThatExceptionOfType(WindlassException.class)
                    .isThrownBy(() -> fleet.at("without"))
                    .withMessageContaining("not open yet")
                    .withMessageContaining("expected Windlass's tables in schema \"windlass\", found none");
            fleet.at(id(0)).outbox().enqueue(OutboxEntry.of("a", "not disturbed"));
            eventually().until(() -> handled.contains(id(0) + " not disturbed"));
            eventually().until(() -> fleet.stores().get(1).status() == StoreState.Status.OPEN);
            fleet.at(id(1)).outbox().enqueue(OutboxEntry.of("a", "in the end"));
            eventually().until(() -> handled.contains(id(1) + " in the end"));
            assertThat(logs.lines()).noneMatch(line -> line.text().contains("secret"));
        }
    }

    @Test
    void aKeyIsFoundBeforeTheFirstRefresh() {
        CountDownLatch late = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        try (Fleet fleet = handling(Fleet.discovering(() -> {
                    if (asked.getAndIncrement() == 0) {
                        throw new IllegalStateException("not yet");
                    }
                    late.countDown();
                    return databases.all();
                }))
                .start()) {
            assertThat(fleet.stores()).isEmpty();
            fleet.at(id(2)).outbox().enqueue(OutboxEntry.of("a", "early"));
            assertThat(late.getCount()).isZero();
            eventually().until(() -> handled.contains(id(2) + " early"));
        }
    }

    @Test
    void storesOfAListDoNotWaitForADiscovery() {
        List<Store> found = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger asked = new AtomicInteger();
        try (Fleet fleet = handling(Fleet.over(List.of(databases.store(0))).discovering(() -> {
                    asked.incrementAndGet();
                    if (found.isEmpty()) {
                        throw new IllegalStateException("not yet");
                    }
                    return List.copyOf(found);
                }))
                .start()) {
            int atStart = asked.get();
            fleet.at(id(0)).outbox().enqueue(OutboxEntry.of("a", "listed"));
            eventually().until(() -> handled.contains(id(0) + " listed"));
            assertThat(asked).hasValue(atStart);
            assertThatExceptionOfType(WindlassException.class)
                    .isThrownBy(() -> fleet.at(id(1)))
                    .withMessageContaining("could not discover stores");
            assertThat(fleet.health().ready().status()).isEqualTo(HealthStatus.DEGRADED);
            assertThat(fleet.health().ready().checks())
                    .extracting(HealthReport.Entry::description)
                    .contains("it is not known yet which stores there are beside the 1 that are listed");

            found.add(databases.store(1));
            fleet.at(id(1)).outbox().enqueue(OutboxEntry.of("a", "found"));
            eventually().until(() -> handled.contains(id(1) + " found"));
            found.set(0, databases.store(0));
            assertThatExceptionOfType(WindlassException.class)
                    .isThrownBy(fleet::refresh)
                    .withMessageContaining(id(0));
            assertThat(fleet.stores()).hasSize(2);
        }
    }

    @Test
    void aFleetHasOneDiscovery() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Fleet.discovering(List::of).discovering(List::of))
                .withMessage("expected one discovery, got a second one; let one find the stores of both");
    }

    /** One that hangs is opened when it answers; start and refresh do not wait for it. */
    @Test
    void aStoreThatDoesNotAnswerKeepsNoOtherFromBeingOpened() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger opened = new AtomicInteger();
        Store hangs = Store.opening(id(1), "hangs", () -> {
            opened.incrementAndGet();
            goOn.await();
            return TestStores.pool(databases.source(id(1)));
        });
        List<Store> now = Collections.synchronizedList(new ArrayList<>(List.of(hangs)));
        try (Fleet fleet = handling(Fleet.discovering(() -> List.copyOf(now))).start()) {
            now.add(databases.store(0));
            fleet.refresh();
            fleet.at(id(0)).outbox().enqueue(OutboxEntry.of("a", "beside it"));
            eventually().until(() -> handled.contains(id(0) + " beside it"));
            goOn.countDown();
            eventually().until(() -> fleet.stores().get(1).status() == StoreState.Status.OPEN);
            assertThat(opened).hasValue(1);
        }
    }

    @Test
    void storesAreOpenedOnceAlsoWhileAnotherFails() {
        AtomicInteger opened = new AtomicInteger();
        List<Store> stores = new ArrayList<>();
        stores.add(Store.opening("bad", "bad", () -> {
            throw new IllegalArgumentException("jdbc:nothing?password=secret");
        }));
        List<Store> now = Collections.synchronizedList(stores);
        try (Logs logs = Logs.collect(Level.INFO);
                Fleet fleet = Fleet.discovering(() -> List.copyOf(now))
                        .options(FleetOptions.defaults().withParallelism(1))
                        .start()) {
            for (int i = 0; i < 20; i++) {
                now.add(Store.opening("s" + i, "s" + i, () -> {
                            opened.incrementAndGet();
                            Thread.sleep(50);
                            return databases.source(id(0));
                        })
                        .withSchema("windlass"));
            }
            fleet.refresh();
            assertThat(fleet.stores())
                    .filteredOn(state -> state.status() == StoreState.Status.OPEN)
                    .hasSize(20);
            assertThat(opened).hasValue(20);
            assertThat(fleet.stores().get(0).problem()).contains("java.lang.IllegalArgumentException");
            assertThat(logs.lines()).noneMatch(line -> line.text().contains("secret"));
        }
    }

    @Test
    void severalSchemasOfOneDatabaseAreStoresToo() {
        try (var pool = TestStores.pool(databases.source(id(0)))) {
            List<Store> schemas = List.of(
                    Store.of("north", pool).withSchema("north"),
                    Store.of("south", pool).withSchema("south"));
            FleetBuilder builder = handling(Fleet.over(schemas));
            List<StoreMigration> told = Collections.synchronizedList(new ArrayList<>());
            List<StoreMigration> done = builder.migrate(told::add);
            assertThat(done).containsExactlyElementsOf(told).hasSize(2);
            assertThat(done).allMatch(each -> each.problem().isEmpty());
            assertThat(done.get(1).number()).isEqualTo(2);
            try (Fleet fleet = builder.start()) {
                fleet.at("north").outbox().enqueue(OutboxEntry.of("a", "x"));
                fleet.at("south").outbox().enqueue(OutboxEntry.of("a", "y"));
                eventually().until(() -> handled.containsAll(List.of("north x", "south y")));
                assertThat(handled).hasSize(2);
            }
        }
    }

    @Test
    void aMigrationTellsOfEachStoreAndOneThatFailsKeepsNoOtherFromIt() {
        List<Store> stores = List.of(
                databases.store(0), Store.of("nowhere", databases.source("no such database")), databases.store(1));
        List<StoreMigration> done = Fleet.over(stores).migrate(each -> {});
        assertThat(done).hasSize(3);
        assertThat(done)
                .filteredOn(each -> each.problem().isPresent())
                .singleElement()
                .satisfies(each -> assertThat(each.id()).isEqualTo("nowhere"))
                .satisfies(each -> assertThat(each.problem().orElseThrow()).contains("3D000"));
    }

    @Test
    void aMigrationThatEndsInAnErrorIsNotUpToDate() {
        Store broken = Store.opening("broken", "x", () -> {
            throw new NoClassDefFoundError("a driver");
        });
        List<StoreMigration> done =
                Fleet.over(List.of(broken, databases.store(0))).migrate(each -> {});
        assertThat(done)
                .filteredOn(each -> each.problem().isPresent())
                .singleElement()
                .satisfies(each -> assertThat(each.problem()).contains("java.lang.NoClassDefFoundError"));
    }

    @Test
    void keysCanBeSpreadOverStores() {
        List<String> ids = List.of(id(0), id(1), id(2));
        Shards shards = Shards.over(ids);
        try (Fleet fleet = handling(Fleet.over(databases.all())).routing(shards).start()) {
            for (int i = 0; i < 30; i++) {
                String key = "customer " + i;
                fleet.at(key).outbox().enqueue(OutboxEntry.of("a", key));
            }
            eventually().until(() -> handled.size() == 30);
            for (int i = 0; i < 30; i++) {
                String key = "customer " + i;
                assertThat(handled).contains(shards.apply(key) + " " + key);
            }
            assertThat(handled.stream().map(each -> each.substring(0, 7)).distinct())
                    .hasSize(3);
        }
    }
}
