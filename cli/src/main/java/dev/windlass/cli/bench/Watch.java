package dev.windlass.cli.bench;

import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Looks at a server and this process for a while, once a second. */
final class Watch {
    private final Connection connection;
    private final List<String> databases;
    private final Optional<LocalServer> server;
    private long looks;
    private long mostThreads;
    private long mostConnections;

    /**
     * What was seen.
     *
     * @param transactions a second, without those of the bench
     * @param opened connections a second
     * @param clientTime seconds of processor time in a second
     * @param serverTime the same of the server, if it runs here
     * @param threads at the end
     */
    record Seen(
            double transactions,
            double opened,
            double clientTime,
            Optional<Double> serverTime,
            long threads,
            long mostThreads,
            long mostConnections) {}

    private record Sample(
            long nanos, long transactions, long sessions, double clientTime, Optional<Double> serverTime) {}

    /**
     * @param databases whose transactions are counted
     */
    Watch(Connection connection, List<String> databases) throws SQLException {
        this.connection = connection;
        this.databases = databases;
        this.server = LocalServer.of(connection);
    }

    Seen over(Duration time) throws SQLException, InterruptedException {
        Sample before = sample();
        looks = 0;
        do {
            TimeUnit.SECONDS.sleep(1);
            look();
        } while (System.nanoTime() - before.nanos < time.toNanos());
        Sample after = sample();
        double seconds = (after.nanos - before.nanos) / 1e9;
        return new Seen(
                (after.transactions - before.transactions - own()) / seconds,
                (after.sessions - before.sessions) / seconds,
                (after.clientTime - before.clientTime) / seconds,
                after.serverTime.map(used -> (used - before.serverTime.orElse(used)) / seconds),
                threads(),
                mostThreads,
                mostConnections);
    }

    private Sample sample() throws SQLException {
        try (PreparedStatement question = connection.prepareStatement(
                "select sum(xact_commit + xact_rollback), sum(sessions) from pg_stat_database where datname = any (?)")) {
            question.setArray(1, connection.createArrayOf("text", databases.toArray()));
            try (ResultSet row = question.executeQuery()) {
                row.next();
                return new Sample(
                        System.nanoTime(),
                        row.getLong(1),
                        row.getLong(2),
                        clientTime(),
                        server.map(LocalServer::seconds));
            }
        }
    }

    private void look() throws SQLException {
        looks++;
        mostThreads = Math.max(mostThreads, threads());
        mostConnections = Math.max(
                mostConnections,
                BenchServer.number(
                        connection,
                        "select count(*) from pg_stat_activity where application_name = ?",
                        BenchServer.FLEET));
    }

    /** The looks, and the first sample; the last does not count itself. */
    private long own() throws SQLException {
        return databases.contains(connection.getCatalog()) ? looks + 1 : 0;
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("windlass"))
                .count();
    }

    private static double clientTime() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getProcessCpuTime() / 1e9
                : 0;
    }
}
