package dev.windlass.cli.bench;

import dev.windlass.Fleet;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What a fleet costs whose stores have nothing to do. */
final class IdleStores {
    private static final long MOST_BYTES = 64L << 20;
    private static final int MOST_THREADS = 20;
    private static final int MOST_TRANSACTIONS = 200;
    private static final int COLLECTIONS = 3;

    /** A fleet that has so many to open in vain is measured as it is. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final Duration TELL_EVERY = Duration.ofSeconds(10);

    /** Until the server has counted what the last sessions did. */
    private static final long AFTER_CLOSE_MILLIS = 5_000;

    private final BenchStores stores;
    private final StoresBench.Settings settings;
    private final Report report;

    /** What was seen in a while, and at its end. */
    private record Seen(
            double transactions,
            double clientSeconds,
            Optional<Double> serverSeconds,
            long threads,
            long mostThreads,
            long mostConnections) {}

    IdleStores(BenchStores stores, StoresBench.Settings settings, Report report) {
        this.stores = stores;
        this.settings = settings;
        this.report = report;
    }

    void run() throws Exception {
        int count = settings.idleStores();
        stores.ensure(count);
        report.say(
                "idle: a fleet of %,d stores with one outbox handler each, all else as by default, %d shared connections",
                count, settings.connections());
        try (Connection watching = stores.server.connect()) {
            Seen with = withFleet(watching);
            Thread.sleep(Math.min(AFTER_CLOSE_MILLIS, settings.quiet().toMillis()));
            tell(with, watch(watching));
        }
        report.say("");
    }

    private Seen withFleet(Connection watching) throws Exception {
        long before = heap();
        long start = System.nanoTime();
        try (SharedConnections connections = SharedConnections.atMost(settings.connections())) {
            List<Store> all = stores.stores(settings.idleStores(), connections);
            try (Fleet fleet = open(all)) {
                long running = BenchFleet.awaitRunning(fleet, all, PATIENCE);
                report.say("  %,d of %,d are open after %.1f s", running, all.size(), seconds(start));
                report.say(
                        "  left alone for %1$d s, then watched for %1$d s",
                        settings.quiet().toSeconds());
                Thread.sleep(settings.quiet().toMillis());
                Seen seen = watch(watching);
                tellHeap(before, heap(), all.size());
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

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private static long heap() {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("windlass"))
                .count();
    }

    /** Looks once a second. Each look is a transaction that is not counted. */
    private Seen watch(Connection watching) throws Exception {
        List<String> databases = stores.databases(settings.idleStores());
        Optional<LocalServer> server = LocalServer.of(watching);
        long mostThreads = 0;
        long mostConnections = 0;
        long before = transactions(watching, databases);
        double client = clientSeconds();
        Optional<Double> serverBefore = server.map(LocalServer::seconds);
        long start = System.nanoTime();
        int looks = 0;
        while (System.nanoTime() - start < settings.quiet().toNanos()) {
            TimeUnit.SECONDS.sleep(1);
            mostThreads = Math.max(mostThreads, threads());
            mostConnections = Math.max(mostConnections, connections(watching));
            looks++;
        }
        double took = seconds(start);
        long own = databases.contains(watching.getCatalog()) ? looks + 1 : 0;
        long done = transactions(watching, databases) - before - own;
        double clientUsed = (clientSeconds() - client) / took;
        return new Seen(
                done / took,
                clientUsed,
                server.flatMap(each -> serverBefore.map(used -> (each.seconds() - used) / took)),
                threads(),
                mostThreads,
                mostConnections);
    }

    private static long transactions(Connection watching, List<String> databases) throws Exception {
        return BenchServer.number(
                watching,
                "select sum(xact_commit + xact_rollback)::bigint from pg_stat_database where datname = any (?)",
                watching.createArrayOf("text", databases.toArray()));
    }

    private static long connections(Connection watching) throws Exception {
        return BenchServer.number(
                watching, "select count(*) from pg_stat_activity where application_name = ?", BenchServer.FLEET);
    }

    private static double clientSeconds() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getProcessCpuTime() / 1e9
                : 0;
    }

    private void tellHeap(long before, long after, int count) {
        report.say(
                "  heap after collection     %,7.1f MB more than before, %.1f MB in all, %.1f kB a store (aim below %d MB)",
                (after - before) / 1e6, after / 1e6, (after - before) / 1e3 / count, MOST_BYTES >> 20);
    }

    /**
     * @param without what the server does by itself, above all autovacuum, which visits each database that was used
     */
    private void tell(Seen with, Seen without) {
        report.say(
                "  threads                   %,7d at most whose name starts with windlass, %d at the end (aim below %d)",
                with.mostThreads, with.threads, MOST_THREADS);
        report.say(
                "  connections               %,7d at most (%d are allowed, %d of them may be kept)",
                with.mostConnections,
                settings.connections(),
                FleetOptions.defaults().keptConnections());
        report.say(
                "  transactions              %,7.1f /s, without the %.1f /s after the fleet was closed (aim below %d statements)",
                with.transactions - without.transactions, without.transactions, MOST_TRANSACTIONS);
        report.say(
                "  processor time, client    %,7.3f s/s, %.3f after the fleet was closed",
                with.clientSeconds, without.clientSeconds);
        with.serverSeconds.ifPresent(used -> report.say(
                "  processor time, server    %,7.3f s/s, %.3f after the fleet was closed",
                used, without.serverSeconds.orElse(0.0)));
        report.say(
                "  transactions are commits and rollbacks of pg_stat_database; one may hold more than one statement");
    }
}
