package dev.windlass.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** The meters that there are, each made when it is first needed. Used by the one thread of a listener. */
final class Meters {
    /** Most of the time a meter is looked up, so this has to be quick: a registry takes several times as long. */
    private final Map<Key, Object> known = new HashMap<>();

    private final MeterRegistry registry;

    private record Key(String name, Tags tags) {}

    /** A gauge, and the number that it shows. */
    private record Shown(Gauge gauge, AtomicLong value) {}

    Meters(MeterRegistry registry) {
        this.registry = registry;
    }

    void count(String name, Tags tags, long more) {
        ((Counter) get(name, tags, () -> Counter.builder(name).tags(tags).register(registry))).increment((double) more);
    }

    void size(String name, Tags tags, long messages) {
        ((DistributionSummary) get(
                        name,
                        tags,
                        () -> DistributionSummary.builder(name)
                                .baseUnit("messages")
                                .tags(tags)
                                .register(registry)))
                .record((double) messages);
    }

    void time(String name, Tags tags, Duration took) {
        timer(name, tags).record(took);
    }

    /** With a histogram, so that percentiles over several nodes can be computed. */
    Timer timer(String name, Tags tags) {
        return (Timer) get(
                name,
                tags,
                () -> Timer.builder(name)
                        .tags(tags)
                        .serviceLevelObjectives(BUCKETS)
                        .register(registry));
    }

    private static final Duration[] BUCKETS = {
        Duration.ofMillis(1),
        Duration.ofMillis(5),
        Duration.ofMillis(25),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofSeconds(2),
        Duration.ofSeconds(10),
        Duration.ofMinutes(1),
        Duration.ofMinutes(5)
    };

    void gauge(String name, Tags tags, long value) {
        Shown shown = (Shown) get(name, tags, () -> {
            AtomicLong number = new AtomicLong();
            return new Shown(
                    Gauge.builder(name, number, AtomicLong::doubleValue)
                            .tags(tags)
                            .register(registry),
                    number);
        });
        shown.value.set(value);
    }

    private Object get(String name, Tags tags, Supplier<Object> making) {
        return known.computeIfAbsent(new Key(name, tags), key -> making.get());
    }

    /** What a store was that is gone does not stay on a dashboard. */
    void forget(String store) {
        for (Iterator<Map.Entry<Key, Object>> all = known.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<Key, Object> each = all.next();
            boolean ofStore = each.getKey().tags().stream()
                    .anyMatch(tag ->
                            tag.getKey().equals("store") && tag.getValue().equals(store));
            if (ofStore) {
                registry.remove(each.getValue() instanceof Shown shown ? shown.gauge : (Meter) each.getValue());
                all.remove();
            }
        }
    }
}
