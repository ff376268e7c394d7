package dev.windlass.metrics;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Repository;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.Feature;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.health.HealthStatus;
import dev.windlass.health.QueueMeasure;
import dev.windlass.outbox.OutboxEntry;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a registry shows of a real node. */
final class WindlassMetricsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private double count(String name, String... tags) {
        var counter = registry.find(name).tags(tags).counter();
        return counter == null ? 0 : counter.count();
    }

    private double gauge(String name, String... tags) {
        var gauge = registry.find(name).tags(tags).gauge();
        return gauge == null ? -1 : gauge.value();
    }

    @Test
    void countersAndTimersTellWhatWasDoneByTopicAndEnding() {
        Windlass windlass = database.start(database.windlass()
                .name("shop")
                .listener(new WindlassMetrics(registry))
                .outboxHandler("a", message -> {})
                .outboxHandler("b", message -> {
                    throw new PermanentFailure("no");
                }));
        windlass.outbox().enqueueAll(Collections.nCopies(10, OutboxEntry.of("a", "x")));
        windlass.outbox().enqueue(OutboxEntry.of("b", "x"));

        eventually().until(() -> count("windlass.dead.letters", "topic", "b") == 1);
        eventually()
                .until(() -> registry.find("windlass.handled")
                                        .tags("topic", "a", "ending", "done")
                                        .timer()
                                != null
                        && registry.get("windlass.handled")
                                        .tags("topic", "a", "ending", "done")
                                        .timer()
                                        .count()
                                == 10);
        assertThat(count("windlass.enqueued", "store", "shop", "queue", "outbox", "topic", "a"))
                .isEqualTo(10);
        assertThat(registry.get("windlass.latency").tags("topic", "a").timer().count())
                .isEqualTo(10);
        assertThat(registry.get("windlass.handled")
                        .tags("topic", "b", "ending", "failed")
                        .timer()
                        .count())
                .isEqualTo(1);
        eventually().until(() -> registry.get("windlass.settled").summary().totalAmount() == 11);
        assertThat(registry.get("windlass.claimed").summary().totalAmount()).isEqualTo(11);
    }

    @Test
    void gaugesTellHowMuchThereIsUnderTheNamesOfTheGuide() {
        Windlass writer = database.passive();
        writer.outbox().enqueueAll(Collections.nCopies(7, OutboxEntry.of("a", "x")));
        writer.outbox().enqueue(OutboxEntry.of("a", "x").withDelay(Duration.ofHours(1)));
        database.start(database.windlass().name("shop").listener(new WindlassMetrics(registry)));

        eventually().until(() -> gauge("outbox.pending.messages", "store", "shop") == 8);
        assertThat(gauge("windlass.queue.ready", "queue", "outbox")).isEqualTo(7);
        assertThat(gauge("windlass.queue.delayed", "queue", "outbox")).isEqualTo(1);
        assertThat(gauge("outbox.processing.messages")).isZero();
        assertThat(gauge("outbox.failed.messages")).isZero();
        assertThat(gauge("timers.pending")).isZero();
        assertThat(gauge("timers.overdue")).isZero();
        assertThat(gauge("active.leases")).isZero();
        assertThat(gauge("windlass.loops")).isZero();
        assertThat(gauge("windlass.in.hand", "queue", "outbox")).isZero();
    }

    private static WindlassEvent.Measured measured(long ready, int inHand) {
        return new WindlassEvent.Measured(
                "shop",
                List.of(new QueueMeasure(QueueKind.OUTBOX, ready, 0, 0, 0, 0, 0, 0, Optional.empty(), false)),
                0,
                Map.of(QueueKind.OUTBOX, inHand),
                HealthStatus.HEALTHY);
    }

    /** A rule on growth fires only if the series was there before: a counter by topic begins with the first that it counts. */
    @Test
    void whatAlertsOnFailedAndExpiredMessagesAskForIsThereBeforeTheFirstOne() throws IOException {
        database.start(database.windlass().name("shop").listener(new WindlassMetrics(registry)));

        eventually().until(() -> gauge("windlass.queue.failed", "store", "shop", "queue", "outbox") == 0);
        eventually()
                .until(() -> registry.find("windlass.expired")
                                .tags("store", "shop", "queue", "outbox")
                                .counter()
                        != null);
        assertThat(Repository.read("deploy/prometheus/windlass-alerts.yml"))
                .contains("(delta(windlass_queue_failed[10m])) > 0")
                .contains("(increase(windlass_expired_total[10m])) > 0");
    }

    @Test
    void everyMeterSaysWhatItIs() {
        Windlass windlass = database.start(database.windlass()
                .name("shop")
                .listener(new WindlassMetrics(registry))
                .outboxHandler("a", message -> {}));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> registry.find("windlass.handled").timer() != null);
        eventually().until(() -> gauge("windlass.queue.ready", "queue", "outbox") >= 0);
        assertThat(registry.getMeters())
                .hasSizeGreaterThan(30)
                .filteredOn(meter -> !meter.getId().getName().endsWith(".histogram")) // the registry's own
                .allSatisfy(meter -> assertThat(meter.getId().getDescription())
                        .as(meter.getId().getName())
                        .isNotBlank());
    }

    @Test
    void twoNodesOfOneNameShareTheirMetersAndSayIt() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            WindlassMetrics first = new WindlassMetrics(registry);
            WindlassMetrics second = new WindlassMetrics(registry);
            first.on(measured(10, 3));
            first.on(new WindlassEvent.Enqueued("shop", QueueKind.OUTBOX, "a", 1));
            second.on(measured(12, 4));
            second.on(new WindlassEvent.Enqueued("shop", QueueKind.OUTBOX, "a", 1));
            assertThat(gauge("windlass.queue.ready")).isEqualTo(12);
            assertThat(gauge("windlass.in.hand")).isEqualTo(7);
            first.on(measured(11, 5));
            assertThat(gauge("windlass.queue.ready")).isEqualTo(11);
            assertThat(gauge("windlass.in.hand")).isEqualTo(9);
            assertThat(count("windlass.enqueued", "topic", "a")).isEqualTo(2);
            assertThat(logs.count(Level.WARN, "two nodes with the name shop")).isEqualTo(1);

            first.on(new WindlassEvent.Stopped("shop"));

            assertThat(gauge("windlass.queue.ready")).isEqualTo(12);
            assertThat(gauge("windlass.in.hand")).isEqualTo(4);
            second.on(new WindlassEvent.StoreRemoved("shop", false));
            assertThat(registry.find("windlass.queue.ready").gauges()).isEmpty();
            assertThat(count("windlass.enqueued", "topic", "a")).isEqualTo(2);
        }
    }

    @Test
    void aNodeThatIsClosedTakesItsGaugesAlongAndLeavesWhatItCounted() {
        Windlass windlass = database.start(database.windlass().name("shop").listener(new WindlassMetrics(registry)));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> gauge("windlass.queue.ready", "queue", "outbox") >= 0);

        windlass.close();

        assertThat(registry.find("windlass.queue.ready").gauges()).isEmpty();
        assertThat(count("windlass.enqueued", "topic", "a")).isEqualTo(1);
    }

    private static void afterARestartGaugesAreThoseOfTheNewNode(MeterRegistry registry) {
        WindlassMetrics first = new WindlassMetrics(registry);
        first.on(measured(5, 1));
        first.on(new WindlassEvent.Stopped("shop"));
        assertThat(registry.getMeters()).noneMatch(meter -> meter instanceof Gauge);

        WindlassMetrics second = new WindlassMetrics(registry);
        second.on(measured(42, 2));
        second.on(new WindlassEvent.Enqueued("shop", QueueKind.OUTBOX, "a", 1));
        assertThat(shown(registry, "queue.ready")).isEqualTo(42);

        second.on(new WindlassEvent.StoreRemoved("shop", false));
        assertThat(registry.getMeters())
                .noneMatch(meter -> meter.getId().getName().endsWith("windlass.enqueued"));

        second.on(measured(43, 2));
        assertThat(shown(registry, "queue.ready")).isEqualTo(43);
        assertThat(shown(registry, "in.hand")).isEqualTo(2);
    }

    private static double shown(MeterRegistry registry, String name) {
        return registry.getMeters().stream()
                .filter(meter -> meter.getId().getName().endsWith(name))
                .map(Gauge.class::cast)
                .findFirst()
                .orElseThrow()
                .value();
    }

    @Test
    void aRegistryWithTagsOfItsOwnForgetsWhatGoesAndShowsWhatComesBack() {
        registry.config().commonTags("application", "shop");
        afterARestartGaugesAreThoseOfTheNewNode(registry);
    }

    @Test
    void soDoesARegistryThatRenames() {
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public Meter.Id map(Meter.Id id) {
                return id.withName("app." + id.getName());
            }
        });
        afterARestartGaugesAreThoseOfTheNewNode(registry);
    }

    @Test
    void oneMeterThatARegistryMakesOfSeveralStaysAsLongAsOneOfThemIsUsed() {
        registry.config().meterFilter(MeterFilter.ignoreTags("store"));
        WindlassMetrics metrics = new WindlassMetrics(registry);
        WindlassEvent.Measured shop = measured(5, 1);
        metrics.on(shop);
        metrics.on(new WindlassEvent.Measured("two", shop.queues(), 0, shop.inHand(), HealthStatus.HEALTHY));
        metrics.on(new WindlassEvent.StoreRemoved("two", false));
        assertThat(shown(registry, "queue.ready")).isEqualTo(5);
    }

    @Test
    void aRegistryThatNobodyUsesAnyMoreIsFreed() {
        WeakReference<MeterRegistry> gone = usedAndLeft();
        eventually().until(() -> {
            System.gc();
            return gone.get() == null;
        });
    }

    private static WeakReference<MeterRegistry> usedAndLeft() {
        MeterRegistry registry = new SimpleMeterRegistry();
        WindlassMetrics metrics = new WindlassMetrics(registry);
        metrics.on(measured(5, 1));
        metrics.on(new WindlassEvent.Enqueued("shop", QueueKind.OUTBOX, "a", 1));
        return new WeakReference<>(registry);
    }

    @Test
    void whatListenedToANodeThatIsClosedIsFreed() {
        WeakReference<Meters> gone = closed(registry);
        eventually().until(() -> {
            System.gc();
            return gone.get() == null;
        });
        assertThat(count("windlass.enqueued", "store", "shop")).isEqualTo(1);
    }

    private static WeakReference<Meters> closed(MeterRegistry registry) {
        Meters meters = new Meters(registry);
        Tags tags = Tags.of("store", "shop");
        meters.count("windlass.enqueued", tags, 1);
        meters.gauge("windlass.queue.ready", tags, 1);
        meters.tellOf("shop");
        meters.forgetGauges("shop");
        return new WeakReference<>(meters);
    }

    /** As if its node had never said that it was closed. */
    @Test
    void gaugesOfWhatIsGoneAreTakenOverByWhatComesNext() {
        new Meters(registry).gauge("windlass.queue.ready", Tags.of("store", "shop", "queue", "outbox"), 5);
        System.gc();
        assertThat(gauge("windlass.queue.ready")).isEqualTo(5);
        WindlassMetrics next = new WindlassMetrics(registry);
        next.on(measured(42, 1));
        assertThat(gauge("windlass.queue.ready")).isEqualTo(42);
    }

    @Test
    void whatANodeKnowsOfItselfIsShownAlsoWhileNothingCanBeMeasured() {
        WindlassMetrics metrics = new WindlassMetrics(registry);
        metrics.on(measured(10, 3));
        metrics.on(new WindlassEvent.MeasureFailed("shop", Map.of(QueueKind.OUTBOX, 2), HealthStatus.UNHEALTHY));

        assertThat(gauge("windlass.loops")).isEqualTo(2);
        assertThat(gauge("windlass.in.hand")).isEqualTo(2);
        assertThat(gauge("windlass.queue.ready")).isEqualTo(10);
    }

    @Test
    void theAgeOfAMeasureGrowsUntilTheNextOneAndIsThereFromTheBeginning() {
        WindlassMetrics metrics = new WindlassMetrics(registry);
        metrics.on(new WindlassEvent.MeasureFailed("shop", Map.of(), HealthStatus.HEALTHY));
        eventually().until(() -> gauge("windlass.measure.age.seconds", "store", "shop") >= 0.1);
        metrics.on(new WindlassEvent.MeasureFailed("shop", Map.of(), HealthStatus.HEALTHY));
        double before = gauge("windlass.measure.age.seconds");
        assertThat(before).isGreaterThanOrEqualTo(0.1);
        eventually().until(() -> {
            metrics.on(measured(1, 1));
            return gauge("windlass.measure.age.seconds") < before;
        });
    }

    @Test
    void aNodeThatCannotMeasureTellsWhatItKnowsOfItself() throws Exception {
        database.execute("revoke execute on function %s.outbox_measure from public, windlass_runtime");
        try {
            database.start(database.windlass()
                    .name("shop")
                    .only(Feature.OUTBOX)
                    .listener(new WindlassMetrics(registry))
                    .outboxHandler("a", message -> {}));
            eventually().until(() -> gauge("windlass.loops", "store", "shop") >= 0);
            assertThat(gauge("windlass.in.hand", "queue", "outbox")).isZero();
            assertThat(gauge("windlass.measure.age.seconds")).isNotNegative();
            assertThat(gauge("windlass.queue.ready")).isEqualTo(-1);
        } finally {
            database.execute("grant execute on function %s.outbox_measure to windlass_runtime");
        }
    }

    @Test
    void topicsOfAllStoresTogetherAreBoundedAndWhatAStoreLeavesIsFree() {
        WindlassMetrics metrics = new WindlassMetrics(registry, 3);
        for (int store = 0; store < 20; store++) {
            for (String topic : new String[] {"a", "b", "c"}) {
                metrics.on(new WindlassEvent.Enqueued("store" + store, QueueKind.OUTBOX, topic, 1));
            }
        }
        assertThat(registry.find("windlass.enqueued").counters()).hasSize(30 + 10);
        assertThat(count("windlass.enqueued", "store", "store19", "topic", "other"))
                .isEqualTo(3);

        metrics.on(new WindlassEvent.StoreRemoved("store0", false));
        metrics.on(new WindlassEvent.Enqueued("store19", QueueKind.OUTBOX, "a", 1));

        assertThat(count("windlass.enqueued", "store", "store19", "topic", "a")).isEqualTo(1);
    }

    @Test
    void topicsAreBoundedAndStoresThatGoTakeTheirMetersAlong() {
        WindlassMetrics metrics = new WindlassMetrics(registry, 2);
        for (String topic : new String[] {"a", "b", "c", "d", "a"}) {
            metrics.on(new WindlassEvent.Enqueued("one", QueueKind.OUTBOX, topic, 1));
            metrics.on(new WindlassEvent.Enqueued("two", QueueKind.OUTBOX, topic, 1));
        }
        assertThat(count("windlass.enqueued", "store", "one", "topic", "a")).isEqualTo(2);
        assertThat(count("windlass.enqueued", "store", "one", "topic", "other")).isEqualTo(2);
        assertThat(registry.find("windlass.enqueued").tags("topic", "c").counter())
                .isNull();

        metrics.on(new WindlassEvent.StoreRemoved("one", false));

        assertThat(registry.find("windlass.enqueued").tags("store", "one").counters())
                .isEmpty();
        assertThat(count("windlass.enqueued", "store", "two", "topic", "a")).isEqualTo(2);
    }
}
