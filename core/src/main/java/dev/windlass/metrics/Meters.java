package dev.windlass.metrics;

import dev.windlass.metrics.Registered.Shows;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The meters that there are, each made when it is first needed. Used by the one thread of a listener. */
final class Meters {
    /** Most of the time a meter is looked up, so this has to be quick: a registry takes several times as long. */
    private final Map<Registered.Key, Registered.Use> known = new HashMap<>();

    private final MeterRegistry registry;
    private final Registered registered;

    Meters(MeterRegistry registry) {
        this.registry = registry;
        this.registered = Registered.in(registry);
    }

    void count(String name, Tags tags, long more) {
        ((Counter) get(
                        name,
                        tags,
                        () -> Counter.builder(name)
                                .description(Descriptions.of(name))
                                .tags(tags)
                                .register(registry)))
                .increment((double) more);
    }

    void size(String name, Tags tags, long messages) {
        ((DistributionSummary) get(
                        name,
                        tags,
                        () -> DistributionSummary.builder(name)
                                .description(Descriptions.of(name))
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
                        .description(Descriptions.of(name))
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

    /** What is in the tables: the same for all nodes. */
    void gauge(String name, Tags tags, long value) {
        gauge(name, tags, value, Shows.LAST);
    }

    /** Shows zero until something is told. */
    void isThere(String name, Tags tags) {
        if (!known.containsKey(new Registered.Key(name, tags))) {
            gauge(name, tags, 0);
        }
    }

    /** What this node has. */
    void own(String name, Tags tags, long value) {
        gauge(name, tags, value, Shows.SUM);
    }

    /** For how long nobody has told anything: from now on, or from when it was told first. */
    void age(String name, Tags tags, boolean told) {
        if (told || !known.containsKey(new Registered.Key(name, tags))) {
            gauge(name, tags, System.nanoTime(), Shows.AGE);
        }
    }

    private void gauge(String name, Tags tags, long value, Shows shows) {
        Registered.Key key = new Registered.Key(name, tags);
        known.computeIfAbsent(key, any -> registered.gauge(registry, this, key, shows))
                .show(this, key, value);
    }

    private Meter get(String name, Tags tags, Supplier<? extends Meter> making) {
        return known.computeIfAbsent(new Registered.Key(name, tags), key -> registered.use(this, key, making)).meter;
    }

    void tellOf(String store) {
        registered.tells(this, store);
    }

    /** What a store was that is gone does not stay on a dashboard. */
    void forget(String store) {
        letGo(store, use -> false);
    }

    /** The node is gone, and what it counted is not. */
    void forgetGauges(String store) {
        letGo(store, use -> !use.isGauge());
    }

    private void letGo(String store, Predicate<Registered.Use> stays) {
        for (Iterator<Map.Entry<Registered.Key, Registered.Use>> all =
                        known.entrySet().iterator();
                all.hasNext(); ) {
            Map.Entry<Registered.Key, Registered.Use> each = all.next();
            if (each.getKey().isOf(store)) {
                registered.letGo(registry, this, each.getKey(), each.getValue(), stays.test(each.getValue()));
                all.remove();
            }
        }
        registered.isSilentAbout(this, store);
    }
}
