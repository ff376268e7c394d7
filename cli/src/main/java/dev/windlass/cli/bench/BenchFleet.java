package dev.windlass.cli.bench;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.dispatch.Telemetry;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Store;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** Fleets that are measured. */
final class BenchFleet {
    private static final Duration GRACE = Duration.ofSeconds(5);

    private BenchFleet() {}

    static WindlassOptions options() {
        return WindlassOptions.defaults().withShutdownGrace(GRACE);
    }

    static void migrate(DataSource source, String schema) {
        Windlass.on(source).options(options().withSchemaName(schema)).migrator().migrate();
    }

    /** One that does nothing with messages, so many at once. */
    static Fleet draining(List<Store> stores, Load load, Telemetry telemetry) {
        return Fleet.over(stores)
                .each(windlass -> windlass.options(options())
                        .outbox(load.outbox())
                        .telemetry(telemetry)
                        .outboxHandler(Bench.TOPIC, message -> {}))
                .options(FleetOptions.defaults().withConcurrency(load.concurrency()))
                .start();
    }

    /** Waits until all of these can handle messages. */
    static Fleet awaitRunning(Fleet fleet, List<Store> stores) throws InterruptedException {
        long until = System.nanoTime() + Duration.ofMinutes(5).toNanos();
        for (Store store : stores) {
            while (!isRunning(fleet, store)) {
                if (System.nanoTime() - until > 0) {
                    throw new WindlassException("expected all stores to be open after 5 minutes, store " + store.id()
                            + " is not: " + fleet.stores());
                }
                Thread.sleep(10);
            }
        }
        return fleet;
    }

    private static boolean isRunning(Fleet fleet, Store store) {
        try {
            Windlass windlass = fleet.at(store.id());
            return windlass.isRunning();
        } catch (WindlassException e) {
            return false;
        }
    }
}
