package dev.windlass.event;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Fleet;
import dev.windlass.HeldStatements;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.QueueKind;
import dev.windlass.base.RetryPolicy;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.store.Store;
import dev.windlass.work.WorkEntry;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What listeners hear of a real node. */
final class EventsTest {
    private static final String STORE = "shop";

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<WindlassEvent> heard = new ConcurrentLinkedQueue<>();

    private WindlassBuilder node() {
        return database.windlass().name(STORE).listener(heard::add);
    }

    private <E extends WindlassEvent> List<E> heard(Class<E> kind) {
        return heard.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    private <E extends WindlassEvent> E one(Class<E> kind) {
        eventually().until(() -> !heard(kind).isEmpty());
        assertThat(heard(kind)).hasSize(1);
        return heard(kind).get(0);
    }

    @Test
    void whatIsNotWrittenSinceItsKeyIsTakenIsNotToldAsEnqueued() {
        Windlass windlass = database.start(node().options(database.options().withBackgroundWorkers(false)));
        OutboxEntry entry = OutboxEntry.of("a", "x").withDeduplication("k", Duration.ofHours(1));
        windlass.outbox().enqueue(entry);
        windlass.outbox().enqueue(entry);
        windlass.outbox().enqueueAll(List.of(entry, OutboxEntry.of("b", "x")));
        eventually().until(() -> heard(WindlassEvent.Enqueued.class).size() == 2);
        assertThat(heard(WindlassEvent.Enqueued.class))
                .extracting(WindlassEvent.Enqueued::topic)
                .containsExactly("a", "b");
    }

    @Test
    void aMessageIsToldFromItsEnqueueToItsEnd() {
        Windlass windlass = database.start(node().outboxHandler("a", message -> {}));
        UUID id = windlass.outbox().enqueue(OutboxEntry.of("a", "x")).value();

        assertThat(one(WindlassEvent.Settled.class)).isEqualTo(new WindlassEvent.Settled(STORE, QueueKind.OUTBOX, 1));
        assertThat(one(WindlassEvent.Enqueued.class))
                .isEqualTo(new WindlassEvent.Enqueued(STORE, QueueKind.OUTBOX, "a", 1));
        assertThat(one(WindlassEvent.Claimed.class)).isEqualTo(new WindlassEvent.Claimed(STORE, QueueKind.OUTBOX, 1));
        WindlassEvent.Handled handled = one(WindlassEvent.Handled.class);
        assertThat(handled.id()).isEqualTo(id);
        assertThat(handled.topic()).isEqualTo("a");
        assertThat(handled.attempt()).isEqualTo(1);
        assertThat(handled.ending()).isEqualTo(WindlassEvent.Ending.DONE);
        assertThat(handled.waited()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
        assertThat(handled.took()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
    }

    @Test
    void everyQueueTellsOfItself() {
        Windlass windlass = database.start(node().outboxHandler("a", message -> {})
                .inboxHandler("a", message -> {})
                .workHandler("a", "type", item -> {}));
        windlass.inbox().enqueue(InboxEntry.of("source", "1", "a", "x"));
        windlass.workQueue().enqueue(WorkEntry.of("a", "type", "x"));
        windlass.timers().schedule(TimerEntry.of("a", "x", Duration.ZERO));

        eventually().until(() -> heard(WindlassEvent.Handled.class).size() == 3);
        assertThat(heard(WindlassEvent.Handled.class))
                .extracting(WindlassEvent.Handled::queue)
                .containsExactlyInAnyOrder(QueueKind.OUTBOX, QueueKind.INBOX, QueueKind.WORK);
        assertThat(heard(WindlassEvent.Enqueued.class))
                .extracting(WindlassEvent.Enqueued::queue)
                .containsExactlyInAnyOrder(QueueKind.INBOX, QueueKind.WORK, QueueKind.TIMERS);
        WindlassEvent.TimersHandedOff handedOff = one(WindlassEvent.TimersHandedOff.class);
        assertThat(handedOff.timers()).isEqualTo(1);
        assertThat(handedOff.late()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
        assertThat(heard).extracting(WindlassEvent::store).containsOnly(STORE);
    }

    @Test
    void retriesAndDeadLettersAreToldWhenTheyAreWritten() {
        RetryPolicy twice = new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1), 0);
        Windlass windlass = database.start(
                node().outboxHandler("a", HandlerOptions.defaults().withRetry(twice), message -> {
                            throw new IllegalStateException("no mail today");
                        })
                        .outboxHandler("b", message -> {
                            throw new PermanentFailure("no such customer");
                        }));
        UUID id = windlass.outbox().enqueue(OutboxEntry.of("a", "x")).value();
        WindlassEvent.DeadLettered dead = one(WindlassEvent.DeadLettered.class);
        assertThat(dead.id()).isEqualTo(id);
        assertThat(dead.attempt()).isEqualTo(2);
        assertThat(dead.error()).contains("no mail today");
        assertThat(database.count("status = 3")).isEqualTo(1);
        WindlassEvent.Retried retried = one(WindlassEvent.Retried.class);
        assertThat(retried.attempt()).isEqualTo(1);
        assertThat(retried.counted()).isTrue();

        windlass.outbox().enqueue(OutboxEntry.of("b", "x"));
        eventually().until(() -> heard(WindlassEvent.DeadLettered.class).size() == 2);
        assertThat(heard(WindlassEvent.DeadLettered.class).get(1).topic()).isEqualTo("b");
        assertThat(heard(WindlassEvent.Handled.class))
                .extracting(WindlassEvent.Handled::ending)
                .containsExactly(WindlassEvent.Ending.RETRY, WindlassEvent.Ending.FAILED, WindlassEvent.Ending.FAILED);
    }

    @Test
    void whatExpiresOrIsReapedIsCounted() throws SQLException {
        database.passive()
                .outbox()
                .enqueue(OutboxEntry.of("a", "x").withExpiresAt(Instant.now().plusMillis(1)));
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, claimed_at, locked_until, owner_token, status,"
                        + " topic, payload) select gen_random_uuid(), now(), now(), now() - interval '1 hour',"
                        + " now() - interval '1 hour', gen_random_uuid(), 1, 'b', 'x' from generate_series(1, 2)");
        database.start(node().outbox(OutboxOptions.defaults().withLease(Duration.ofSeconds(1))));

        assertThat(one(WindlassEvent.Expired.class)).isEqualTo(new WindlassEvent.Expired(STORE, QueueKind.OUTBOX, 1));
        assertThat(one(WindlassEvent.Reaped.class)).isEqualTo(new WindlassEvent.Reaped(STORE, QueueKind.OUTBOX, 2));
    }

    @Test
    void aTopicWithoutAHandlerIsNamed() {
        database.passive().outbox().enqueue(OutboxEntry.of("unknown", "x"));
        database.start(node().outboxHandler("a", message -> {}));
        assertThat(one(WindlassEvent.TopicUnhandled.class))
                .isEqualTo(new WindlassEvent.TopicUnhandled(STORE, QueueKind.OUTBOX, "unknown"));
    }

    @Test
    void aCircuitThatOpensIsTold() {
        Windlass windlass = database.start(node().outboxHandler(
                        "a", HandlerOptions.defaults().withCircuit(new Circuit(1, Duration.ofMinutes(1))), message -> {
                            throw new IllegalStateException("down");
                        }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        assertThat(one(WindlassEvent.CircuitChanged.class))
                .isEqualTo(new WindlassEvent.CircuitChanged(STORE, QueueKind.OUTBOX, "a", true));
    }

    @Test
    void aJobTellsOfItsRunAndOfItsEnd() {
        AtomicInteger runs = new AtomicInteger();
        Windlass windlass = database.start(node().outboxHandler("report", message -> runs.incrementAndGet()));
        windlass.jobs().save(Job.every("nightly", Duration.ofSeconds(1)).withTopic("report"));
        eventually().until(() -> runs.get() > 0);
        windlass.jobs().delete("nightly");
        eventually().until(() -> !heard(WindlassEvent.JobRunEnded.class).isEmpty());

        WindlassEvent.JobRunCreated created =
                heard(WindlassEvent.JobRunCreated.class).get(0);
        WindlassEvent.JobRunEnded ended = heard(WindlassEvent.JobRunEnded.class).get(0);
        assertThat(created.job()).isEqualTo("nightly");
        assertThat(ended.topic()).isEqualTo("report");
        assertThat(ended.done()).isTrue();
        assertThat(heard(WindlassEvent.JobRunCreated.class))
                .extracting(WindlassEvent.JobRunCreated::run)
                .contains(ended.run());
    }

    @Test
    void aLeaseIsToldWhenItIsAcquiredRefusedRenewedAndLost() {
        Windlass windlass = database.start(node());
        var lease =
                windlass.leases().tryAcquire("report", Duration.ofMinutes(1)).orElseThrow();
        assertThat(windlass.leases().tryAcquire("report", Duration.ofMinutes(1)))
                .isEmpty();
        assertThat(lease.tryRenewNow()).isTrue();
        database.update("update %s.lease set holder = ?", UUID.randomUUID());
        assertThat(lease.tryRenewNow()).isFalse();

        long token = lease.fencingToken();
        assertThat(one(WindlassEvent.LeaseLost.class).fencingToken()).isEqualTo(token);
        assertThat(one(WindlassEvent.LeaseAcquired.class).fencingToken()).isEqualTo(token);
        assertThat(one(WindlassEvent.LeaseRefused.class)).isEqualTo(new WindlassEvent.LeaseRefused(STORE, "report"));
        assertThat(one(WindlassEvent.LeaseRenewed.class).name()).isEqualTo("report");
    }

    @Test
    void aListenerThatHangsHoldsUpNoMessage() {
        AtomicInteger handled = new AtomicInteger();
        CountDownLatch never = new CountDownLatch(1);
        Windlass windlass = database.start(database.windlass()
                .listener(event -> never.await())
                .outboxHandler("a", message -> handled.incrementAndGet()));
        for (int i = 0; i < 100; i++) {
            windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        }
        eventually().until(() -> database.count("status = 2") == 100);
        assertThat(handled).hasValue(100);
        never.countDown();
    }

    @Test
    void aHandlerThatIsGivenUpIsTold() {
        CountDownLatch end = new CountDownLatch(1);
        HandlerOptions quick = HandlerOptions.defaults()
                .withTimeout(Duration.ofMillis(50))
                .withRetry(RetryPolicy.defaults().withMaxAttempts(1));
        Windlass windlass = database.start(node().outbox(database.shortLease()).outboxHandler("a", quick, message -> {
            while (end.getCount() > 0) {
                Thread.onSpinWait();
                Thread.interrupted();
            }
        }));
        try {
            UUID id = windlass.outbox().enqueue(OutboxEntry.of("a", "x")).value();

            WindlassEvent.Handled handled = one(WindlassEvent.Handled.class);
            assertThat(handled.id()).isEqualTo(id);
            assertThat(handled.ending()).isEqualTo(WindlassEvent.Ending.FAILED);
            assertThat(one(WindlassEvent.DeadLettered.class).error()).contains("did not stop");
        } finally {
            end.countDown();
        }
    }

    @Test
    void theLastThatIsHeardOfANodeIsThatItHasStopped() {
        Windlass windlass = database.start(node().outboxHandler("a", message -> {}));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> !heard(WindlassEvent.Settled.class).isEmpty());

        windlass.close();

        assertThat(heard).last().isEqualTo(new WindlassEvent.Stopped(STORE));
    }

    @Test
    void theLastThatIsHeardOfAStoreIsThatItIsGone() throws Exception {
        List<Store> stores = new CopyOnWriteArrayList<>(
                List.of(Store.of("tenant", database.dataSource()).withSchema(database.schema())));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (Fleet fleet = Fleet.discovering(() -> stores)
                .listener(heard::add)
                .each(windlass -> windlass.outboxHandler("a", message -> {
                    begun.countDown();
                    end.await();
                }))
                .start()) {
            fleet.at("tenant").outbox().enqueue(OutboxEntry.of("a", "x"));
            begun.await();
            stores.clear();
            fleet.refresh();
            assertThat(heard(WindlassEvent.StoreRemoved.class)).isEmpty();
            end.countDown();
            eventually().until(() -> !heard(WindlassEvent.StoreRemoved.class).isEmpty());
        }
        assertThat(heard(WindlassEvent.Settled.class)).hasSize(1);
        assertThat(heard).last().isEqualTo(new WindlassEvent.StoreRemoved("tenant", false));
    }

    /** It would bring back the gauges of a store that is gone, for good. */
    @Test
    void aMeasureThatIsUnderWayWhenItsStoreGoesIsNotTold() throws Exception {
        HeldStatements held = new HeldStatements(database.dataSource(), "outbox_measure");
        List<Store> stores = new CopyOnWriteArrayList<>(
                List.of(Store.of("tenant", held.source()).withSchema(database.schema())));
        try (Fleet fleet = Fleet.discovering(() -> stores).listener(heard::add).start()) {
            held.begun().await();
            stores.clear();
            fleet.refresh();
            eventually().until(() -> !heard(WindlassEvent.StoreRemoved.class).isEmpty());
            held.goOn();
            eventually().until(() -> held.closedSince() >= 2);
        }
        assertThat(heard(WindlassEvent.Measured.class)).isEmpty();
    }

    @Test
    void aFleetTellsOfItsStoresAndOfWhatHappensInThem() {
        Store store = Store.of("tenant", database.dataSource()).withSchema(database.schema());
        try (Fleet fleet = Fleet.over(List.of(store))
                .listener(heard::add)
                .each(windlass -> windlass.outboxHandler("a", message -> {}))
                .start()) {
            fleet.at("tenant").outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> !heard(WindlassEvent.Settled.class).isEmpty());
        }
        assertThat(heard(WindlassEvent.StoreAdded.class)).containsExactly(new WindlassEvent.StoreAdded("tenant"));
        assertThat(heard).extracting(WindlassEvent::store).containsOnly("tenant");
    }
}
