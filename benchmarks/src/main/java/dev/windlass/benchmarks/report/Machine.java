package dev.windlass.benchmarks.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** What was measured on. */
public final class Machine {
    private static final int TIMES = 100;
    private static final int PAGE = 8192;
    private static final List<String> SETTINGS = List.of(
            "fsync",
            "synchronous_commit",
            "full_page_writes",
            "shared_buffers",
            "max_wal_size",
            "wal_compression",
            "checkpoint_timeout",
            "autovacuum",
            "max_connections");

    private Machine() {}

    /** Names and values, for a table. */
    public static Map<String, String> describe(DataSource source) throws SQLException, IOException {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("processors", Runtime.getRuntime().availableProcessors() + model());
        facts.put("memory", memory());
        facts.put("operating system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("JVM", System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"));
        try (Connection connection = source.getConnection()) {
            facts.put("PostgreSQL", text(connection, "select current_setting('server_version')"));
            for (String setting : SETTINGS) {
                facts.put(setting, text(connection, "select current_setting('" + setting + "')"));
            }
            facts.put("smallest commit, median", millis(commit(connection)));
        }
        facts.put("fsync of 8 kB in " + System.getProperty("java.io.tmpdir") + ", median", millis(fsync()));
        facts.put(
                "load average at the start",
                String.format(
                        Locale.ROOT,
                        "%.1f",
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
        return facts;
    }

    private static String model() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> " × " + line.substring(line.indexOf(':') + 2))
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return ""; // only Linux tells
        }
    }

    private static String memory() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? (system.getTotalMemorySize() >> 20) + " MB"
                : "unknown";
    }

    /** A message in the log of the database needs no table. */
    private static long commit(Connection connection) throws SQLException, IOException {
        try (PreparedStatement message =
                connection.prepareStatement("select pg_logical_emit_message(true, 'windlass-benchmarks', 'x')")) {
            return median(message::execute);
        }
    }

    private static long fsync() throws IOException, SQLException {
        Path file = Files.createTempFile("windlass-benchmarks", ".fsync");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            return median(() -> {
                channel.write(ByteBuffer.allocate(PAGE), 0);
                channel.force(false);
            });
        } finally {
            Files.delete(file);
        }
    }

    @FunctionalInterface
    private interface Write {
        void run() throws IOException, SQLException;
    }

    private static long median(Write write) throws IOException, SQLException {
        long[] nanos = new long[TIMES];
        for (int i = 0; i < TIMES; i++) {
            long start = System.nanoTime();
            write.run();
            nanos[i] = System.nanoTime() - start;
        }
        Arrays.sort(nanos);
        return nanos[TIMES / 2];
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
    }

    private static String text(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
