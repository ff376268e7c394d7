package dev.windlass.internal.event;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import dev.windlass.internal.support.InWords;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One listener, what waits for it, and its thread.
 *
 * <p>While there is much to tell, the thread looks every few milliseconds and is not woken: to wake a thread costs a producer more than
 * all the rest. Only one that has found nothing for a while lies down, and is woken by the next event.
 */
final class ListenerLine {
    private static final Logger log = LoggerFactory.getLogger(WindlassListener.class);
    private static final int MOST = 50_000;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int LOOKS_IN_VAIN = 20;
    private static final long HANGS_NANOS = Duration.ofSeconds(30).toNanos();

    private final WindlassListener listener;
    private final MonotonicClock clock;
    private final ConcurrentLinkedQueue<WindlassEvent> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger size = new AtomicInteger();
    private final AtomicLong leftOut = new AtomicLong();
    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicBoolean saidToHang = new AtomicBoolean();
    private final Thread thread;
    /** When the call began that is under way; 0 if none is. */
    private volatile long began;

    private volatile boolean lying;
    private volatile boolean closed;
    private volatile boolean givenUp;
    private boolean blamed;

    /**
     * @param clock measures how long the listener takes
     */
    ListenerLine(WindlassListener listener, MonotonicClock clock) {
        this.listener = listener;
        this.clock = clock;
        this.thread = new Thread(this::run, "windlass-listener");
        thread.setDaemon(true);
    }

    void add(WindlassEvent event) {
        if (closed) {
            return;
        }
        if (began != 0 && !saidToHang.get()) {
            warnIfItHangs();
        }
        if (size.get() >= MOST) {
            leaveOut();
            return;
        }
        size.incrementAndGet();
        waiting.add(event);
        if (lying) {
            lying = false;
            LockSupport.unpark(thread);
        } else if (!started.get() && started.compareAndSet(false, true)) {
            start();
        }
    }

    /** Without a thread nobody hears anything; what happens goes on. */
    private void start() {
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            closed = true;
            log.error("found no thread for listener {}; it hears nothing", name(), e);
        }
    }

    /** There is nobody to watch it but those who tell something: whom nobody tells anything misses nothing. */
    private void warnIfItHangs() {
        long since = began;
        long lasts = clock.nanos() - since;
        if (since != 0 && lasts >= HANGS_NANOS && saidToHang.compareAndSet(false, true)) {
            log.warn(
                    "listener {} has not returned from an event for {}; {} others wait for it",
                    name(),
                    InWords.of(Duration.ofNanos(lasts)),
                    size.get());
        }
    }

    private void leaveOut() {
        if (leftOut.getAndIncrement() == 0) {
            log.warn(
                    "listener {} does not keep up: {} events wait for it, and others are left out until it does",
                    name(),
                    MOST);
        }
    }

    private void run() {
        int inVain = 0;
        while (!closed || !(givenUp || waiting.isEmpty())) {
            inVain = tellAll() ? 0 : inVain + 1;
            if (inVain < LOOKS_IN_VAIN) {
                LockSupport.parkNanos(this, LOOK_NANOS);
            } else {
                lieDown();
            }
        }
    }

    /** Whoever added something before it lay down did not wake it: so it looks once more. */
    private void lieDown() {
        lying = true;
        if (waiting.isEmpty() && !closed) {
            LockSupport.park(this);
        }
        lying = false;
    }

    /** Returns whether there was anything to tell. No error ends the thread, not even a lack of memory to say what went wrong. */
    private boolean tellAll() {
        boolean any = false;
        try {
            for (WindlassEvent event; !givenUp && (event = waiting.poll()) != null; ) {
                any = true;
                size.decrementAndGet();
                tell(event);
            }
            long missed = leftOut.getAndSet(0);
            if (missed > 0) {
                log.warn("listener {} keeps up again; {} events were left out", name(), missed);
            }
            return any;
        } catch (Throwable e) {
            return any;
        }
    }

    private void tell(WindlassEvent event) {
        began = clock.nanos() | 1;
        try {
            listener.on(event);
        } catch (Throwable e) {
            if (!blamed) {
                blamed = true;
                blame(event.getClass().getSimpleName(), e);
            }
        } finally {
            began = 0;
            Thread.interrupted(); // what it may have left behind would let this thread never rest
        }
    }

    /** An exception of somebody else may not even tell what it says. */
    private void blame(String event, Throwable e) {
        String said = "listener {} failed with {}; it hears the next ones all the same, and this is logged only once";
        try {
            log.error(said, name(), event, e);
        } catch (RuntimeException again) {
            log.error(
                    said + " ({}, which cannot be logged)",
                    name(),
                    event,
                    e.getClass().getName());
        }
    }

    private String name() {
        return listener.getClass().getName();
    }

    /** Hears what waits for it, and nothing more. */
    void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** Until then; what still waits is left out, which is said. A listener that closes does not wait for itself. */
    void awaitEnd(Deadline deadline) {
        if (Thread.currentThread() == thread) {
            return;
        }
        boolean interrupted = false;
        try {
            TimeUnit.NANOSECONDS.timedJoin(thread, deadline.remaining().toNanos());
        } catch (InterruptedException e) {
            interrupted = true;
        }
        givenUp = true;
        if (thread.isAlive()) {
            sayThatItIsLeft();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void sayThatItIsLeft() {
        long since = began;
        if (since != 0 || size.get() > 0) {
            log.warn(
                    "listener {} is left behind: it has not returned from an event for {}, and {} others are left out",
                    name(),
                    InWords.of(Duration.ofNanos(since == 0 ? 0 : clock.nanos() - since)),
                    size.get());
        }
    }
}
