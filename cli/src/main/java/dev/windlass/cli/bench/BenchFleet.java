package dev.windlass.cli.bench;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.event.WindlassListener;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** Fleets that are measured. */
final class BenchFleet {
    private static final Duration GRACE = Duration.ofSeconds(5);

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final long LOOK_EVERY_MILLIS = 20;

    private BenchFleet() {}

    static WindlassOptions options() {
        return WindlassOptions.defaults().withShutdownGrace(GRACE);
    }

    static void migrate(DataSource source, String schema) {
        Windlass.on(source).options(options().withSchemaName(schema)).migrator().migrate();
    }

    /** One that does nothing with messages, so many at once. */
    static Fleet draining(List<Store> stores, Load load, WindlassListener listener) {
        return Fleet.over(stores)
                .each(windlass -> windlass.options(options())
                        .outbox(load.outbox())
                        .listener(listener)
                        .outboxHandler(Bench.TOPIC, message -> {}))
                .options(FleetOptions.defaults().withConcurrency(load.concurrency()))
                .start();
    }

    /** Waits until all of these can handle messages. */
    static Fleet awaitRunning(Fleet fleet, List<Store> stores) throws InterruptedException {
        long running = awaitRunning(fleet, stores, PATIENCE);
        if (running < stores.size()) {
            throw new WindlassException("expected all %d stores to be open after %d s, got %d"
                    .formatted(stores.size(), PATIENCE.toSeconds(), running));
        }
        return fleet;
    }

    /** Waits so long at most, and returns how many can. */
    static long awaitRunning(Fleet fleet, List<Store> stores, Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        long running = running(fleet, stores);
        while (running < stores.size() && until - System.nanoTime() > 0) {
            TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
            running = running(fleet, stores);
        }
        return running;
    }

    private static long running(Fleet fleet, List<Store> stores) {
        Set<String> open = fleet.stores().stream()
                .filter(state -> state.status() == StoreState.Status.OPEN)
                .map(StoreState::id)
                .collect(Collectors.toSet());
        return stores.stream()
                .map(Store::id)
                .filter(id -> open.contains(id) && fleet.at(id).isRunning())
                .count();
    }
}
