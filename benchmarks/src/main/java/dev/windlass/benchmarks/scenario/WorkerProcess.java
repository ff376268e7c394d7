package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.system.Server;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A {@link WorkerNode} as its parent sees it. */
final class WorkerProcess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final Path errors;
    private final PrintWriter input;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final AtomicLong first = new AtomicLong();
    private final AtomicLong peak = new AtomicLong();
    private final Listener listener;

    /** Hears of handlers in the other process. */
    @FunctionalInterface
    interface Listener {
        void started(String payload, long nanos);
    }

    private WorkerProcess(Process process, Path errors, Listener listener) {
        this.process = process;
        this.errors = errors;
        this.listener = listener;
        this.input = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    }

    /** One that tells of every handler. */
    static WorkerProcess start(Server server, String system, Listener listener) throws Exception {
        return start(server, system, true, listener, List.of());
    }

    /** One that tells of the first handler only, so that telling costs nothing. */
    static WorkerProcess start(Server server, String system, List<String> options) throws Exception {
        return start(server, system, false, (payload, nanos) -> {}, options);
    }

    private static WorkerProcess start(
            Server server, String system, boolean tellsAll, Listener listener, List<String> options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        // What this JVM was given for its compiler and collector holds for its workers too.
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("-XX:"))
                .forEach(command::add);
        command.addAll(options);
        command.addAll(List.of("-XX:+ExitOnOutOfMemoryError", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(WorkerNode.class.getName(), system, Boolean.toString(tellsAll)));
        Path errors = Files.createTempFile("windlass-benchmarks", ".err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().put(WorkerNode.URL, server.url());
        builder.environment().put(WorkerNode.USER, server.user());
        builder.environment().put(WorkerNode.PASSWORD, server.password());
        WorkerProcess worker = new WorkerProcess(builder.start(), errors, listener);
        worker.listen();
        worker.await();
        return worker;
    }

    private void listen() {
        Thread reader = new Thread(this::read, "worker-output");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line; (line = output.readLine()) != null; ) {
                take(line);
            }
        } catch (IOException e) {
            // The process has ended; that is noticed by who waits for its answer.
        }
        answers.add("");
    }

    private void take(String line) {
        if (line.startsWith(WorkerNode.STARTED)) {
            String[] parts = line.split(" ", 3);
            long nanos = Long.parseLong(parts[1]);
            first.compareAndSet(0, nanos);
            listener.started(parts[2], nanos);
        } else if (line.startsWith(WorkerNode.PEAK)) {
            peak.set(Long.parseLong(line.substring(WorkerNode.PEAK.length())));
        } else if (line.equals(WorkerNode.READY)) {
            answers.add(line);
        }
    }

    /** Lets it handle messages. */
    void begin() throws Exception {
        first.set(0);
        tell(WorkerNode.BEGIN);
    }

    /** Waits until all that it has told so far has been heard. */
    void awaitHeard() throws Exception {
        tell(WorkerNode.PING);
    }

    /** Lets it stop, when it has finished what it has. */
    void rest() throws Exception {
        tell(WorkerNode.REST);
    }

    private void tell(String what) throws Exception {
        input.println(what);
        await();
    }

    private void await() throws Exception {
        String answer = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (answer == null || answer.isEmpty()) {
            throw new IOException("the worker process " + (process.isAlive() ? "does not answer" : "has ended") + ": "
                    + Files.readString(errors));
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** When the first handler started since it was let begin, by the monotonic clock; zero if none has. */
    long first() {
        return first.get();
    }

    double peakMegabytes() {
        return peak.get() / 1e6;
    }

    @Override
    public void close() throws IOException {
        input.close();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(errors);
    }
}
