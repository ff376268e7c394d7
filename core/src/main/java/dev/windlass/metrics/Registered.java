package dev.windlass.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What has been registered in one registry, by whom. Several nodes may report to one, and may have the same name: then they share their
 * meters, and none takes away what another still uses. Thread-safe.
 *
 * <p>What was registered is known by the meter that the registry gave, and not by what it was asked for: filters of the registry change
 * names and tags, and may make one meter of several.
 *
 * <p>Nothing here keeps a registry alive. This is kept by those who use it, and by the gauges that are in the registry: a later node has
 * to find what these show.
 */
final class Registered {
    private static final Logger log = LoggerFactory.getLogger(WindlassMetrics.class);
    private static final Map<MeterRegistry, WeakReference<Registered>> ALL = new WeakHashMap<>();

    private final Map<Meter, Use> uses = new HashMap<>();
    private final Map<String, Set<Meters>> stores = new HashMap<>();
    private final Set<String> told = new HashSet<>();

    /** What is asked for. */
    record Key(String name, Tags tags) {
        boolean isOf(String store) {
            return tags.stream()
                    .anyMatch(tag ->
                            tag.getKey().equals("store") && tag.getValue().equals(store));
        }
    }

    private record User(Meters who, Key key) {}

    /** What a gauge shows of what its users have told. */
    enum Shows {
        /** What was told last: what is in the tables. */
        LAST,
        /** The sum of what each has told last: what a node has. */
        SUM,
        /** For how many seconds nobody has told anything. */
        AGE
    }

    /** A meter in the registry, and who uses it. */
    static final class Use {
        final Meter meter;
        private final Set<User> users = new HashSet<>();
        private @Nullable Shown shown;
        /** Somebody who has gone has counted in it. */
        private boolean stays;

        private Use(Meter meter) {
            this.meter = meter;
        }

        boolean isGauge() {
            return shown != null;
        }

        void show(Meters who, Key key, long value) {
            if (shown != null) {
                shown.set(new User(who, key), value);
            }
        }
    }

    /** The number of a gauge, as each has told it last. */
    private static final class Shown {
        @SuppressWarnings("UnusedVariable") // the gauge keeps it alive by this
        private final Registered registered;

        private final Map<User, Long> parts = new LinkedHashMap<>();
        private final Shows shows;

        Shown(Registered registered, Shows shows) {
            this.registered = registered;
            this.shows = shows;
        }

        synchronized void set(User who, long value) {
            parts.remove(who); // the one that told last comes last
            parts.put(who, value);
        }

        synchronized void remove(User who) {
            parts.remove(who);
        }

        private synchronized double value() {
            long value = 0;
            for (long part : parts.values()) {
                value = shows == Shows.SUM ? value + part : part;
            }
            return shows == Shows.AGE
                    ? (double) TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - value) / 1000
                    : (double) value;
        }
    }

    static Registered in(MeterRegistry registry) {
        synchronized (ALL) {
            WeakReference<Registered> known = ALL.get(registry);
            Registered registered = known == null ? null : known.get();
            if (registered == null) {
                registered = new Registered();
                ALL.put(registry, new WeakReference<>(registered));
            }
            return registered;
        }
    }

    /** Whoever uses a meter has it until it lets go. */
    synchronized Use use(Meters who, Key key, Supplier<? extends Meter> making) {
        Use use = uses.computeIfAbsent(making.get(), Use::new);
        use.users.add(new User(who, key));
        return use;
    }

    synchronized Use gauge(MeterRegistry registry, Meters who, Key key, Shows shows) {
        Shown fresh = new Shown(this, shows);
        Use use = use(
                who,
                key,
                () -> Gauge.builder(key.name, fresh, Shown::value)
                        .description(Descriptions.of(key.name))
                        .tags(key.tags)
                        .strongReference(true)
                        .register(registry));
        if (use.shown == null) {
            use.shown = fresh;
        }
        return use;
    }

    /** Somebody tells of a store. */
    synchronized void tells(Meters who, String store) {
        Set<Meters> all = stores.computeIfAbsent(store, any -> new HashSet<>());
        all.add(who);
        if (all.size() > 1 && told.add(store)) {
            log.warn(
                    "two nodes with the name {} report to one meter registry: their counters add up, and gauges of the tables show what"
                            + " was told last. That is right if both work on the same tables; if not, give each a name of its own"
                            + " (WindlassBuilder.name)",
                    store);
        }
    }

    synchronized void isSilentAbout(Meters who, String store) {
        Set<Meters> all = stores.get(store);
        if (all != null && all.remove(who) && all.isEmpty()) {
            stores.remove(store);
        }
    }

    /**
     * It uses this no more. What nobody uses goes from the registry.
     *
     * @param stays whether it is to stay all the same, as what a node has counted that is closed
     */
    synchronized void letGo(MeterRegistry registry, Meters who, Key key, Use use, boolean stays) {
        User user = new User(who, key);
        use.users.remove(user);
        use.stays |= stays;
        if (use.shown != null) {
            use.shown.remove(user);
        }
        if (use.users.isEmpty() && !use.stays) {
            uses.remove(use.meter);
            registry.remove(use.meter);
        }
    }
}
