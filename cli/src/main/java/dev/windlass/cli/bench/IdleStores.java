package dev.windlass.cli.bench;

import dev.windlass.Fleet;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;

/** What a fleet costs whose stores have nothing to do. */
final class IdleStores {
    private static final long MOST_MEGABYTES = 64;
    private static final int MOST_THREADS = 20;
    private static final int MOST_STATEMENTS = 200;
    private static final int COLLECTIONS = 3;

    /** A fleet that cannot open all of its stores is measured as it is. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final Duration TELL_EVERY = Duration.ofSeconds(10);

    /** Until the server has counted what the last sessions did. */
    private static final long AFTER_CLOSE_MILLIS = 5_000;

    private final BenchStores stores;
    private final StoresBench.Settings settings;
    private final Report report;

    IdleStores(BenchStores stores, StoresBench.Settings settings, Report report) {
        this.stores = stores;
        this.settings = settings;
        this.report = report;
    }

    void run() throws Exception {
        stores.ensure(settings.idleStores());
        report.say(
                "idle: a fleet of %,d stores with one outbox handler each, all else as by default, %d shared connections",
                settings.idleStores(), settings.connections());
        try (Connection watching = stores.server.connect()) {
            Watch.Seen with = withFleet(watching);
            Thread.sleep(Math.min(AFTER_CLOSE_MILLIS, settings.quiet().toMillis()));
            tell(with, watch(watching));
        }
        report.say("");
    }

    private Watch.Seen withFleet(Connection watching) throws Exception {
        long before = heap();
        long start = System.nanoTime();
        try (SharedConnections connections = SharedConnections.atMost(settings.connections())) {
            List<Store> all = stores.stores(settings.idleStores(), connections);
            try (Fleet fleet = open(all)) {
                long running = BenchFleet.awaitRunning(fleet, all, PATIENCE);
                report.say(
                        "  %,d are open after %.1f s; left alone for %d s, then watched for as long",
                        running,
                        (System.nanoTime() - start) / 1e9,
                        settings.quiet().toSeconds());
                Thread.sleep(settings.quiet().toMillis());
                Watch.Seen seen = watch(watching);
                tellHeap(heap() - before, before);
                return seen;
            }
        }
    }

    private Fleet open(List<Store> all) {
        Progress progress = new Progress(report, "  %,d of " + all.size() + " are being opened", TELL_EVERY);
        return Fleet.over(all)
                .each(windlass -> {
                    windlass.options(BenchFleet.options()).outboxHandler(Bench.TOPIC, message -> {});
                    progress.one();
                })
                .start();
    }

    private static long heap() {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private Watch.Seen watch(Connection watching) throws Exception {
        return new Watch(watching, stores.databases(settings.idleStores())).over(settings.quiet());
    }

    private void tellHeap(long more, long before) {
        report.say(
                "  heap after collection     %,9.1f MB more than before, %.1f kB a store, %.1f MB in all (aim below %d MB)",
                more / 1e6, more / 1e3 / settings.idleStores(), (before + more) / 1e6, MOST_MEGABYTES);
    }

    /**
     * @param without what the server does by itself: above all autovacuum, which visits each database that was used
     */
    private void tell(Watch.Seen with, Watch.Seen without) {
        report.say(
                "  threads                   %,9d at most whose name starts with windlass, %d at the end (aim below %d)",
                with.mostThreads(), with.threads(), MOST_THREADS);
        report.say(
                "  connections               %,9d at most (%d are allowed, %d of them may be kept)",
                with.mostConnections(),
                settings.connections(),
                FleetOptions.defaults().keptConnections());
        report.say(
                "  connections opened        %,9.1f /s, %.1f /s after the fleet was closed",
                with.opened(), without.opened());
        report.say(
                "  transactions              %,9.1f /s beyond the %.1f /s after the fleet was closed (aim below %d statements)",
                with.transactions() - without.transactions(), without.transactions(), MOST_STATEMENTS);
        report.say(
                "  processor time, client    %,9.3f s/s, %.3f after the fleet was closed",
                with.clientTime(), without.clientTime());
        with.serverTime()
                .ifPresent(used -> report.say(
                        "  processor time, server    %,9.3f s/s, %.3f after the fleet was closed",
                        used, without.serverTime().orElse(0.0)));
        report.say("  transactions are commits and rollbacks of pg_stat_database; one may hold several statements");
    }
}
