package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.scenario.Lab.Unmeasured;
import dev.windlass.benchmarks.system.Payloads;
import dev.windlass.benchmarks.system.Producer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Messages at a steady rate, and how long each took from the end of its commit to the start of its handler. Times are planned ahead,
 * so that a slow write does not lower the rate; what is sent at first, to warm up, is not counted.
 */
final class SteadyLoad {
    private static final int THREADS = 8;
    private static final int PATIENCE_SECONDS = 20;

    private final int perSecond;
    private final int warmUp;
    private final int messages;
    private final AtomicLongArray committed;
    private final AtomicLongArray started;
    private final CountDownLatch all;

    SteadyLoad(int perSecond, Duration steady) {
        this.perSecond = perSecond;
        this.warmUp = (int) (perSecond * steady.toMillis() / 3000);
        this.messages = warmUp + (int) (perSecond * steady.toMillis() / 1000);
        this.committed = new AtomicLongArray(messages);
        this.started = new AtomicLongArray(messages);
        this.all = new CountDownLatch(messages);
    }

    /** To be called by the handler. */
    void started(String payload, long nanos) {
        if (started.compareAndSet(Payloads.number(payload), 0, nanos)) {
            all.countDown();
        }
    }

    Percentiles send(Producer producer, String topic, int payloadBytes) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            long start = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int first = i;
                running.add(threads.submit(() -> {
                    sendFrom(first, start, producer, topic, payloadBytes);
                    return true;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        if (!all.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new Unmeasured(all.getCount() + " of " + messages + " messages were not handled " + PATIENCE_SECONDS
                    + " s after the last was sent, " + perSecond + " a second");
        }
        return percentiles();
    }

    private void sendFrom(int first, long start, Producer producer, String topic, int payloadBytes) throws Exception {
        for (int i = first; i < messages; i += THREADS) {
            long planned = start + i * TimeUnit.SECONDS.toNanos(1) / perSecond;
            for (long wait; (wait = planned - System.nanoTime()) > 0; ) {
                LockSupport.parkNanos(wait);
            }
            producer.enqueue(topic, Payloads.of(i, payloadBytes));
            committed.set(i, System.nanoTime());
        }
    }

    /** A handler can start before the writer learns that its commit is done: that is no time at all. */
    private Percentiles percentiles() {
        long[] took = new long[messages - warmUp];
        for (int i = 0; i < took.length; i++) {
            took[i] = Math.max(0, started.get(warmUp + i) - committed.get(warmUp + i));
        }
        return Percentiles.of(took);
    }
}
