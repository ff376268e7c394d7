package dev.windlass.internal.fleet;

import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs things at once, not too many of them. One that takes long does not count any more: a database that does not answer keeps no
 * other waiting.
 */
public final class Parallel {
    private static final Duration LONG = Duration.ofSeconds(5);

    private final Workers workers;
    private final Semaphore places;
    private final Duration turn;

    public Parallel(Workers workers, int most) {
        this(workers, most, LONG);
    }

    /**
     * @param turn how long one may take before it does not count any more
     */
    public Parallel(Workers workers, int most, Duration turn) {
        this.workers = workers;
        this.places = new Semaphore(most, true);
        this.turn = turn;
    }

    /**
     * Runs all, and waits for them, so long at most after the last has been started. An interrupt is kept for the caller, and skips
     * none of them.
     */
    public void all(List<Runnable> tasks, Duration patience) {
        CountDownLatch left = new CountDownLatch(tasks.size());
        boolean interrupted = false;
        for (Runnable task : tasks) {
            boolean place = false;
            try {
                place = places.tryAcquire(turn.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            start(task, place, left);
        }
        long until = System.nanoTime() + patience.toNanos();
        for (boolean done = false; !done; ) {
            try {
                done = left.await(until - System.nanoTime(), TimeUnit.NANOSECONDS) || until - System.nanoTime() <= 0;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void start(Runnable task, boolean place, CountDownLatch left) {
        AtomicBoolean counts = new AtomicBoolean(place);
        Runnable leave = () -> {
            if (counts.getAndSet(false)) {
                places.release();
            }
        };
        ScheduledFuture<?> turnEnds = workers.after(turn, leave);
        later(() -> {
            try {
                task.run();
            } finally {
                turnEnds.cancel(false);
                leave.run();
                left.countDown();
            }
        });
    }

    /** Runs it, and does not wait for it; unless there is no thread for it any more. */
    public void later(Runnable task) {
        try {
            workers.runLoop(task);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            task.run();
        }
    }
}
