package dev.windlass.cli.bench;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A fleet over many databases of one server: its throughput, what it costs at rest, its latency, and who disturbs whom. */
public final class StoresBench {
    private final Report report;
    private final Settings settings;

    /** What there is to measure. */
    public enum Part {
        THROUGHPUT,
        NEIGHBOURS,
        LATENCY,
        IDLE
    }

    /**
     * What to measure.
     *
     * @param warmUp how many rounds come before those that count
     * @param stores over how many stores the throughput is measured
     * @param idleStores how many have nothing to do
     * @param firstMessages to how many stores a first message is sent
     * @param connections how many a fleet may have, over all stores
     * @param quiet after what time stores count as idle, and for how long they are then watched
     * @param schemas whether a store is a schema, not a database
     */
    public record Settings(
            Load load,
            int warmUp,
            List<Integer> stores,
            int idleStores,
            int firstMessages,
            int connections,
            Duration quiet,
            boolean schemas,
            Set<Part> parts) {

        public Settings {
            stores = List.copyOf(stores);
            if (stores.isEmpty() || stores.stream().anyMatch(count -> count < 1)) {
                throw new IllegalArgumentException("expected numbers of stores from 1 on, got " + stores);
            }
            if (warmUp < 0) {
                throw new IllegalArgumentException("expected 0 or more rounds to warm up, got " + warmUp);
            }
            if (idleStores < 1 || firstMessages < 1 || connections < 1 || quiet.isNegative() || quiet.isZero()) {
                throw new IllegalArgumentException(
                        "expected at least 1 idle store, 1 first message, 1 connection and 1 second, got " + idleStores
                                + ", " + firstMessages + ", " + connections + " and " + quiet.toSeconds());
            }
        }
    }

    public StoresBench(PrintWriter out, Settings settings) {
        this.report = new Report(out);
        this.settings = settings;
    }

    /** On a server that stays: what is made there is dropped at the end. */
    public void run(String url, @Nullable String user, @Nullable String password) throws Exception {
        run(new BenchServer(url, user, password), false);
    }

    /** On a server that is thrown away. */
    public void runOnThrowAway(String url, @Nullable String user, @Nullable String password) throws Exception {
        run(new BenchServer(url, user, password), true);
    }

    private void run(BenchServer server, boolean throwAway) throws Exception {
        tellSettings(server);
        try (BenchStores stores = settings.schemas()
                ? new BenchSchemas(server, report, throwAway)
                : new BenchDatabases(server, report, throwAway)) {
            stores.refuseOthers();
            for (Part part : Part.values()) {
                if (settings.parts().contains(part)) {
                    measure(part, stores);
                }
            }
        }
    }

    private void measure(Part part, BenchStores stores) throws Exception {
        switch (part) {
            case THROUGHPUT -> new StoresThroughput(stores, settings, report).run();
            case NEIGHBOURS -> new Neighbours(stores, settings, report).run();
            case LATENCY -> new FirstMessages(stores, settings, report).run();
            case IDLE -> new IdleStores(stores, settings, report).run();
        }
    }

    private void tellSettings(BenchServer server) throws SQLException {
        Load load = settings.load();
        report.say(
                "%,d messages of %,d bytes, batches of %,d, %d handlers at once over all stores, %d rounds, handled messages are %s",
                load.messages(),
                load.payloadBytes(),
                load.batchSize(),
                load.concurrency(),
                load.rounds(),
                load.keep() ? "kept" : "deleted");
        report.say(
                "stores are %s, through %d shared connections",
                settings.schemas() ? "schemas of one database" : "databases of one server", settings.connections());
        try (Connection connection = server.connect()) {
            report.say("%s", machine(connection));
        }
        report.say("");
    }

    private static String machine(Connection connection) throws SQLException {
        return "%s, %d processors, load average %.1f"
                .formatted(
                        BenchServer.describe(connection),
                        Runtime.getRuntime().availableProcessors(),
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }
}
