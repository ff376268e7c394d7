package dev.windlass.runtime;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A step that runs again and again, never twice at once: after the time it asks for, or as soon as it is woken.
 *
 * <p>Not a thread: between two steps it costs nothing. A step that throws runs again after a growing pause, which waking does
 * not shorten. The first failure and the recovery are logged, and in between whether the pool has no connection, or has one
 * again. Only {@link #stop} ends it.
 */
public final class Loop {
    /** Until somebody wakes the loop. */
    public static final Duration PARKED = Duration.ofDays(36_500);

    private static final Logger log = LoggerFactory.getLogger(Loop.class);
    private static final Duration NO_THREAD_PAUSE = Duration.ofSeconds(1);
    private static final long MIN_PAUSE_MILLIS = 50;
    private static final long MAX_PAUSE_MILLIS = 5_000;

    private final String name;
    private final Workers workers;
    private final Step step;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private boolean started;
    private boolean stopped;
    private boolean busy;
    private boolean woken;
    private Duration within = PARKED;
    private int failures;
    private boolean lacksConnection;
    private @Nullable ScheduledFuture<?> timer;

    public Loop(String name, Workers workers, Step step) {
        this.name = name;
        this.workers = workers;
        this.step = step;
    }

    public void start() {
        lock.lock();
        try {
            if (!started && !stopped) {
                started = true;
                launch();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes the step run now, or once more if it is running. */
    public void wake() {
        lock.lock();
        try {
            if (busy) {
                woken = true;
            } else if (started && !stopped && failures == 0) {
                launch();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes the step run within the given time, if it would rest longer. */
    public void wakeWithin(Duration time) {
        lock.lock();
        try {
            if (busy) {
                within = time.compareTo(within) < 0 ? time : within;
            } else if (started && !stopped && failures == 0 && restsLonger(time)) {
                rest(time);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean restsLonger(Duration time) {
        return timer == null || timer.getDelay(TimeUnit.NANOSECONDS) > time.toNanos();
    }

    private void timeIsUp() {
        lock.lock();
        try {
            if (!busy && !stopped) {
                launch();
            }
        } finally {
            lock.unlock();
        }
    }

    private void launch() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
        busy = true;
        try {
            workers.runLoop(this::run);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            log.debug("{} found no thread", name, e);
            busy = false;
            timer = workers.after(NO_THREAD_PAUSE, this::timeIsUp);
        }
    }

    private void run() {
        Duration pause;
        do {
            pause = runStep();
        } while (!ends(pause));
    }

    private Duration runStep() {
        try {
            Duration pause = step.run();
            if (failures > 0) {
                log.info("{} works again after {} failures", name, failures);
                failures = 0;
            }
            return pause;
        } catch (Throwable e) {
            return pauseAfter(e);
        }
    }

    private Duration pauseAfter(Throwable e) {
        Thread.interrupted();
        failures++;
        Optional<PoolTimeout> timeout = PoolTimeout.behind(e);
        boolean changed = failures == 1 || timeout.isPresent() != lacksConnection;
        lacksConnection = timeout.isPresent();
        if (changed && timeout.isPresent()) {
            log.warn("{} waits: {}", name, timeout.get().getMessage());
        } else if (changed) {
            log.warn("{} failed and goes on trying", name, e);
        } else {
            log.debug("{} has failed {} times", name, failures, e);
        }
        long millis = Math.min(MAX_PAUSE_MILLIS, MIN_PAUSE_MILLIS << Math.min(failures, 10));
        return Duration.ofMillis(millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1));
    }

    /** Ends this run unless there is something to do at once. */
    private boolean ends(Duration asked) {
        lock.lock();
        try {
            Duration pause = failures == 0 && within.compareTo(asked) < 0 ? within : asked;
            boolean again = (woken && failures == 0) || pause.isZero() || pause.isNegative();
            woken = false;
            within = PARKED;
            if (again && !stopped) {
                return false;
            }
            busy = false;
            idle.signalAll();
            if (!stopped && !pause.equals(PARKED)) {
                rest(pause);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void rest(Duration pause) {
        if (timer != null) {
            timer.cancel(false);
        }
        timer = workers.after(pause, this::timeIsUp);
    }

    /**
     * Lets no further step begin, and waits for the one that is running. Returns whether it has ended. An interrupt does not
     * cut the wait short: who stops a loop is about to touch what its step works on.
     */
    public boolean stop(Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        boolean interrupted = false;
        lock.lock();
        try {
            stopped = true;
            if (timer != null) {
                timer.cancel(false);
            }
            while (busy && deadline - System.nanoTime() > 0) {
                try {
                    var unused = idle.awaitNanos(deadline - System.nanoTime());
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return !busy;
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One round of the loop; returns how long to wait until the next. */
    @FunctionalInterface
    public interface Step {
        Duration run() throws Exception;
    }
}
