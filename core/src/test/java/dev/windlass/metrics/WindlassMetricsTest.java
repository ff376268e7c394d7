package dev.windlass.metrics;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.outbox.OutboxEntry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Collections;
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
        assertThat(gauge("windlass.in.hand", "queue", "outbox")).isZero();
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
