package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** From the caller's commit to the start of the handler, at a steady rate, in this process and in another. */
final class Latency {
    private static final int WARM_UP_SECONDS = 2;

    private final Bench bench;
    private final int messages;
    private final int perSecond;
    private final Map<UUID, Long> committed = new ConcurrentHashMap<>();
    private final Map<UUID, Long> started = new ConcurrentHashMap<>();
    private final CountDownLatch all;

    Latency(Bench bench, int messages, int perSecond) {
        this.bench = bench;
        this.messages = messages;
        this.perSecond = perSecond;
        this.all = new CountDownLatch(messages + WARM_UP_SECONDS * perSecond);
    }

    /** Handled by the process that writes, in a transaction that Windlass commits. */
    Percentiles sameProcess() throws Exception {
        return sameProcess(this::writeWithin);
    }

    /** Handled by the process that writes, in a transaction that the caller commits: the node hears of it from the database. */
    Percentiles sameProcessOwnCommit() throws Exception {
        return sameProcess(this::write);
    }

    private Percentiles sameProcess(Writer writer) throws Exception {
        bench.empty();
        try (Windlass windlass = bench.builder()
                .outboxHandler(
                        Bench.TOPIC, message -> started(message.messageId().value(), System.nanoTime()))
                .start()) {
            return measure(windlass, writer);
        }
    }

    /** Handled by a second process, which this one wakes through the database. */
    Percentiles otherProcess(String url, @Nullable String user, @Nullable String password) throws Exception {
        bench.empty();
        ProcessBuilder command = new ProcessBuilder(
                ProcessHandle.current().info().command().orElse("java"),
                "-cp",
                System.getProperty("java.class.path"),
                LatencyNode.class.getName());
        command.environment().put("WINDLASS_URL", url);
        command.environment().put("WINDLASS_USER", user == null ? "" : user);
        command.environment().put("WINDLASS_PASSWORD", password == null ? "" : password);
        Process process = command.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        try (Windlass windlass = bench.builder()
                .options(Bench.options().withBackgroundWorkers(false))
                .start()) {
            awaitReady(output);
            Thread reader = new Thread(() -> read(output), "windlass-bench-reader");
            reader.setDaemon(true);
            reader.start();
            return measure(windlass, this::write);
        } finally {
            process.destroy(); // which ends its output and so the reader; closing that first would wait for it
            process.waitFor(10, TimeUnit.SECONDS);
        }
    }

    private static void awaitReady(BufferedReader output) throws IOException {
        for (String line; (line = output.readLine()) != null; ) {
            if (line.equals(LatencyNode.READY)) {
                return;
            }
        }
        throw new IOException("the second process ended before it was ready");
    }

    private void read(BufferedReader output) {
        try {
            for (String line; (line = output.readLine()) != null; ) {
                if (line.startsWith(LatencyNode.STARTED)) {
                    String[] parts = line.split(" ", 3);
                    started(UUID.fromString(parts[1]), Long.parseLong(parts[2]));
                }
            }
        } catch (IOException e) {
            // The process has ended; what is missing shows in the result.
        }
    }

    private Percentiles measure(Windlass windlass, Writer writer) throws Exception {
        long interval = TimeUnit.SECONDS.toNanos(1) / perSecond;
        for (int i = -WARM_UP_SECONDS * perSecond; i < messages; i++) {
            writer.write(windlass, i >= 0);
            LockSupport.parkNanos(interval);
        }
        if (!all.await(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("expected " + messages + " messages to be handled, got " + started.size());
        }
        return Percentiles.of(committed.entrySet().stream()
                .mapToLong(entry -> started.getOrDefault(entry.getKey(), 0L) - entry.getValue())
                .toArray());
    }

    private void writeWithin(Windlass windlass, boolean counted) throws Exception {
        UUID id = windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, entry(counted)))
                .value();
        if (counted) {
            committed.put(id, System.nanoTime());
        }
    }

    private static OutboxEntry entry(boolean counted) {
        return OutboxEntry.of(Bench.TOPIC, counted ? "counted" : "warm-up");
    }

    private void write(Windlass windlass, boolean counted) throws Exception {
        try (Connection connection = bench.pool.getConnection()) {
            connection.setAutoCommit(false);
            UUID id = windlass.outbox().enqueue(connection, entry(counted)).value();
            connection.commit();
            if (counted) {
                committed.put(id, System.nanoTime());
            }
        }
    }

    private void started(UUID id, long at) {
        if (started.putIfAbsent(id, at) == null) {
            all.countDown();
        }
    }

    @FunctionalInterface
    private interface Writer {
        void write(Windlass windlass, boolean counted) throws Exception;
    }
}
