package dev.windlass.runtime;

import dev.windlass.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** A {@link ChildNode} in a process of its own, which ends with this one. */
final class Child implements AutoCloseable {
    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Thread reader = new Thread(this::read, "child-output");

    private Child(Process process) {
        this.process = process;
        reader.setDaemon(true);
        reader.start();
    }

    static Child start(TestDatabase database, long leaseMillis) throws IOException {
        return start(ProcessHandle.current().info().command().orElse("java"), database, leaseMillis);
    }

    static Child start(String java, TestDatabase database, long leaseMillis) throws IOException {
        return new Child(new ProcessBuilder(List.of(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ChildNode.class.getName(),
                        database.server().jdbcUrl(),
                        "windlass_runtime",
                        database.schema(),
                        Long.toString(leaseMillis)))
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

    List<Interval> intervals() {
        return lines.stream().map(Interval::read).flatMap(Optional::stream).toList();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** As {@code kill -9} does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** After its end: until all that it said has been read. */
    void awaitOutput() throws InterruptedException {
        reader.join();
    }

    /** Lets it close its Windlass and end. */
    int end() throws IOException, InterruptedException {
        process.outputWriter().close();
        int code = process.waitFor();
        reader.join();
        return code;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
