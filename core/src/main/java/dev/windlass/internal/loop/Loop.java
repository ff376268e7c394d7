package dev.windlass.internal.loop;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A step that runs again and again, never twice at once: after the time it asks for, or as soon as it is woken.
 *
 * <p>Not a thread: between two steps it costs nothing. A step that throws runs again after a growing pause, which waking does
 * not shorten. The first failure and the recovery are logged, and in between whether the pool has no connection, or has one
 * again. No error ends it, not even a lack of memory; only {@link #askToStop} does.
 */
public final class Loop {
    /** Until somebody wakes the loop. */
    public static final Duration PARKED = Duration.ofDays(36_500);

    private static final Logger log = LoggerFactory.getLogger(Loop.class);
    private static final Duration NO_THREAD_PAUSE = Duration.ofSeconds(1);
    private static final long MIN_PAUSE_MILLIS = 50;
    /** The longest pause after failures, unless said otherwise. */
    public static final Duration MAX_PAUSE = Duration.ofSeconds(5);

    private static final long NO_MEMORY_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int NO_MEMORY_TRIES = 20;

    private final String name;
    private final Trouble trouble;
    private final Workers workers;
    private final Step step;
    private final Duration maxPause;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition idle = lock.newCondition();
    private volatile boolean started;
    private boolean stopped;
    private boolean busy;
    private boolean woken;
    private Duration within = PARKED;
    private @Nullable ScheduledFuture<?> timer;
    private @Nullable Thread runner;
    /** When the step that is under way began; 0 if none is. */
    private volatile long stepBegan;

    public Loop(String name, Workers workers, Step step) {
        this(name, workers, step, MAX_PAUSE);
    }

    /**
     * @param maxPause the longest pause after failures
     */
    public Loop(String name, Workers workers, Step step, Duration maxPause) {
        this.name = name;
        this.trouble = new Trouble(name);
        this.workers = workers;
        this.step = step;
        this.maxPause = maxPause;
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

    /** The same, with the first step after this time, or when it is woken. */
    public void start(Duration pause) {
        lock.lock();
        try {
            if (!started && !stopped) {
                started = true;
                restFor(pause);
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
            } else if (started && !stopped && trouble.failures() == 0) {
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
            } else if (started && !stopped && trouble.failures() == 0 && restsLonger(time)) {
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
            busy = false;
            launchLater(e);
        }
    }

    /** Bounded, since whoever wakes a loop waits meanwhile. */
    private void launchLater(Throwable reason) {
        for (int tries = 1; timer == null && tries <= NO_MEMORY_TRIES; tries++) {
            try {
                timer = workers.after(NO_THREAD_PAUSE, this::timeIsUp);
                log.debug("{} found no thread", name, reason);
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(NO_MEMORY_PAUSE_NANOS);
            }
        }
    }

    private void run() {
        begins();
        boolean ended = false;
        while (!ended) {
            try {
                ended = ends(runStep());
            } catch (Throwable e) { // to set a timer takes memory too
                LockSupport.parkNanos(NO_MEMORY_PAUSE_NANOS);
            }
        }
    }

    private void begins() {
        lock.lock();
        try {
            runner = Thread.currentThread();
        } finally {
            lock.unlock();
        }
    }

    private Duration runStep() {
        stepBegan = System.nanoTime() | 1;
        try {
            Duration pause = step.run();
            trouble.over();
            return pause;
        } catch (Throwable e) {
            return pauseAfter(e);
        } finally {
            stepBegan = 0;
        }
    }

    private Duration pauseAfter(Throwable e) {
        Thread.interrupted();
        trouble.failed(e);
        long millis = Math.min(maxPause.toMillis(), MIN_PAUSE_MILLIS << Math.min(trouble.failures(), 10));
        return Duration.ofMillis(1 + millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1));
    }

    /** Ends this run unless there is something to do at once. */
    private boolean ends(Duration asked) {
        lock.lock();
        try {
            Duration pause = trouble.failures() == 0 && within.compareTo(asked) < 0 ? within : asked;
            boolean again = (woken && trouble.failures() == 0) || pause.isZero() || pause.isNegative();
            woken = false;
            within = PARKED;
            if (again && !stopped) {
                return false;
            }
            if (!stopped) {
                restFor(pause);
            }
            busy = false;
            runner = null;
            Thread.interrupted(); // meant for the step that has ended
            idle.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void restFor(Duration pause) {
        if (!pause.equals(PARKED)) {
            rest(pause);
        }
    }

    private void rest(Duration pause) {
        if (timer != null) {
            timer.cancel(false);
        }
        timer = workers.after(pause, this::timeIsUp);
    }

    /**
     * How it is, seen from outside.
     *
     * @param started whether it has ever been started: one that has not does nothing
     * @param began when the step that is under way began, by the monotonic clock
     * @param stepFor for how long that has been; zero if none is under way
     * @param failures how often in a row its step has failed
     */
    public record State(String name, boolean started, long began, Duration stepFor, int failures) {}

    public State state() {
        long began = stepBegan;
        long now = System.nanoTime();
        return began == 0
                ? new State(name, started, now, Duration.ZERO, trouble.failures())
                : new State(name, started, began, Duration.ofNanos(now - began), trouble.failures());
    }

    /** Lets no further step begin. */
    public void askToStop() {
        lock.lock();
        try {
            stopped = true;
            if (timer != null) {
                timer.cancel(false);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the step that is running, after it was asked to stop. Returns whether it has ended. An interrupt does not cut
     * the wait short: who stops a loop is about to touch what its step works on.
     */
    public boolean awaitEnd(Deadline deadline) {
        boolean interrupted = false;
        lock.lock();
        try {
            while (busy && !deadline.hasPassed()) {
                try {
                    var unused = idle.awaitNanos(deadline.remaining().toNanos());
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

    /** Interrupts the step that is running, as one that waits for a connection. */
    public void interrupt() {
        lock.lock();
        try {
            if (runner != null) {
                runner.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lets no further step begin, and waits for the one that is running. Returns whether it has ended. */
    public boolean stop(Duration patience) {
        askToStop();
        return awaitEnd(Deadline.in(MonotonicClock.system(), patience));
    }

    /** One round of the loop; returns how long to wait until the next. */
    @FunctionalInterface
    public interface Step {
        Duration run() throws Exception;
    }
}
