package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.system.Payloads;
import dev.windlass.benchmarks.system.Server;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Systems;
import dev.windlass.benchmarks.system.Workers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A worker process. It is told on its input to begin and to rest, and ends with its input. It prints when handlers started, by the
 * machine's monotonic clock, which processes share.
 */
final class WorkerNode {
    static final String URL = "BENCH_URL";
    static final String USER = "BENCH_USER";
    static final String PASSWORD = "BENCH_PASSWORD";
    static final String READY = "ready";
    static final String BEGIN = "begin";
    static final String REST = "rest";
    static final String PING = "ping";
    static final String STARTED = "started ";
    static final String PEAK = "peak ";

    private final SystemUnderTest system;
    private final boolean tellsAll;
    private final AtomicLong peak = new AtomicLong();
    private @Nullable Workers workers;

    private WorkerNode(SystemUnderTest system, boolean tellsAll) {
        this.system = system;
        this.tellsAll = tellsAll;
    }

    /** Arguments: the system, and whether to tell of all handlers or of the first. */
    public static void main(String[] arguments) throws Exception {
        Server server = new Server(environment(URL), environment(USER), environment(PASSWORD));
        try (SystemUnderTest system = Systems.open(arguments[0], server)) {
            new WorkerNode(system, Boolean.parseBoolean(arguments[1])).obey();
        }
        System.exit(0); // some systems leave threads behind
    }

    private static String environment(String name) {
        String value = System.getenv(name);
        if (value == null) {
            throw new IllegalStateException("expected " + name + " in the environment, got nothing");
        }
        return value;
    }

    private void obey() throws Exception {
        Thread watch = new Thread(this::watch, "heap");
        watch.setDaemon(true);
        watch.start();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println(READY);
        for (String line; (line = input.readLine()) != null; ) {
            if (line.equals(BEGIN)) {
                begin();
            } else if (line.equals(REST)) {
                rest();
            } else if (!line.equals(PING)) {
                throw new IOException("expected " + BEGIN + ", " + REST + " or " + PING + ", got " + line);
            }
            System.out.println(READY);
        }
        rest();
    }

    private void begin() throws Exception {
        AtomicLong first = new AtomicLong();
        workers = system.start(
                (topic, payload) -> {
                    long now = System.nanoTime();
                    if (first.compareAndSet(0, now) || tellsAll) {
                        System.out.println(STARTED + now + " " + Payloads.number(payload) + " ");
                    }
                },
                List.of(Lab.TOPIC));
    }

    private void rest() throws Exception {
        if (workers != null) {
            workers.close();
            workers = null;
            System.out.println(PEAK + peak.get());
        }
    }

    private void watch() {
        Runtime runtime = Runtime.getRuntime();
        try {
            while (true) {
                peak.accumulateAndGet(runtime.totalMemory() - runtime.freeMemory(), Math::max);
                Thread.sleep(5);
            }
        } catch (InterruptedException e) {
            // The process ends.
        }
    }
}
