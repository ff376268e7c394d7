package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Workers;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * How fast workers of this process handle messages that are there: from the first handler until the database says that nothing is
 * left. Starting workers is not counted, since some wait for a second before they begin.
 */
final class TimedDrain {
    private static final int PARTS = 10;
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int MINUTES = 15;

    private final SystemUnderTest system;
    private final int messages;
    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicLongArray reached = new AtomicLongArray(PARTS + 1);
    private final CountDownLatch all = new CountDownLatch(1);

    /**
     * Messages a second.
     *
     * @param lastToFirst how fast the last tenth was handled, as a part of the first
     */
    record Rate(double whole, double lastToFirst) {}

    private TimedDrain(SystemUnderTest system, int messages) {
        this.system = system;
        this.messages = messages;
    }

    /** Fills the tables, and drains them. */
    static Rate of(SystemUnderTest system, int messages, int payloadBytes) throws Exception {
        system.fill(Lab.TOPIC, messages, payloadBytes);
        return ofFilled(system, messages);
    }

    static Rate ofFilled(SystemUnderTest system, int messages) throws Exception {
        return new TimedDrain(system, messages).run();
    }

    @SuppressWarnings("try") // the workers are at work meanwhile
    private Rate run() throws Exception {
        try (Workers workers = system.start((topic, payload) -> handled(), List.of(Lab.TOPIC))) {
            if (!all.await(MINUTES, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected " + messages + " messages handled within " + MINUTES
                        + " minutes, got " + handled.get());
            }
            awaitDone(system);
            double seconds = (System.nanoTime() - reached.get(0)) / 1e9;
            check();
            return new Rate(messages / seconds, (double) part(1) / part(PARTS));
        }
    }

    static void awaitDone(SystemUnderTest system) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
        while (!system.isDone()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("expected nothing left in the database, got " + system.left());
            }
            LockSupport.parkNanos(PAUSE);
        }
    }

    private void check() throws Exception {
        long failed = system.failed();
        if (failed > 0) {
            throw new IllegalStateException("expected no failed messages, got " + failed);
        }
    }

    private void handled() {
        int count = handled.incrementAndGet();
        if (count == 1) {
            reached.set(0, System.nanoTime());
        }
        if (count % Math.max(1, messages / PARTS) == 0) {
            reached.compareAndSet(Math.min(PARTS, count / Math.max(1, messages / PARTS)), 0, System.nanoTime());
        }
        if (count == messages) {
            all.countDown();
        }
    }

    private long part(int number) {
        return Math.max(1, reached.get(number) - reached.get(number - 1));
    }
}
