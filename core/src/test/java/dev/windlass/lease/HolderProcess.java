package dev.windlass.lease;

import dev.windlass.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A {@link HolderNode} in a process of its own, which ends with this one. */
final class HolderProcess implements AutoCloseable {
    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private HolderProcess(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "holder-output");
        reader.setDaemon(true);
        reader.start();
    }

    static HolderProcess start(TestDatabase database, Duration lease) throws IOException {
        return new HolderProcess(new ProcessBuilder(List.of(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HolderNode.class.getName(),
                        database.server().jdbcUrl(),
                        "windlass_runtime",
                        database.schema(),
                        Long.toString(lease.toMillis())))
                .redirectErrorStream(true)
                .start());
    }

    private void read() {
        try (BufferedReader output = process.inputReader()) {
            output.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("output ended: " + e);
        }
    }

    boolean said(String line) {
        return lines.contains(line);
    }

    List<String> lines() {
        return lines;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** As {@code kill -9} does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Lets it stand still: no thread of it runs, and nothing in it knows. */
    void pause() throws IOException, InterruptedException {
        signal("-STOP");
    }

    void goOn() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String signal) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (code != 0) {
            throw new IllegalStateException("kill " + signal + " ended with " + code);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
