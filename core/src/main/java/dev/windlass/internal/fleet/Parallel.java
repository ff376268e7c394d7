package dev.windlass.internal.fleet;

import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Runs things at once, not too many of them. One that takes long does not count any more: a database that does not answer keeps no
 * other waiting.
 */
public final class Parallel {
    private static final Duration LONG = Duration.ofSeconds(5);

    private final Workers workers;
    private final Semaphore places;

    public Parallel(Workers workers, int most) {
        this.workers = workers;
        this.places = new Semaphore(most, true);
    }

    /** Runs all, and waits for all of them. An interrupt ends the waiting, not what runs. */
    public void all(List<Runnable> tasks) {
        CountDownLatch left = new CountDownLatch(tasks.size());
        try {
            for (Runnable task : tasks) {
                boolean place = places.tryAcquire(LONG.toNanos(), TimeUnit.NANOSECONDS);
                workers.runLoop(() -> {
                    try {
                        task.run();
                    } finally {
                        if (place) {
                            places.release();
                        }
                        left.countDown();
                    }
                });
            }
            left.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs it, and does not wait for it; unless there is no thread for it any more. */
    public void later(Runnable task) {
        try {
            workers.runLoop(task);
        } catch (RejectedExecutionException e) {
            task.run();
        }
    }
}
