package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.WindlassException;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Asks the database for leases, once or until one is free. */
final class Acquirer {
    private final Database database;
    private final LeaseStore store;
    private final LeaseRunner runner;
    private final WaitingRoom room;
    private final MonotonicClock clock;
    private final LeaseCleaner cleaner;
    private final WaitingLines lines = new WaitingLines();
    private volatile boolean closed;

    Acquirer(
            Database database,
            LeaseStore store,
            LeaseRunner runner,
            WaitingRoom room,
            MonotonicClock clock,
            LeaseCleaner cleaner) {
        this.database = database;
        this.store = store;
        this.runner = runner;
        this.room = room;
        this.clock = clock;
        this.cleaner = cleaner;
    }

    /** What came of asking: a lease, or who stands in the way. */
    record Outcome(@Nullable HeldLease lease, AcquireAnswer answer) {}

    Optional<HeldLease> once(LeaseClaim claim) {
        return held(claim, ask(claim, null));
    }

    private Optional<HeldLease> held(LeaseClaim claim, Outcome outcome) {
        if (outcome.lease() == null) {
            database.events().tell(new WindlassEvent.LeaseRefused(database.store(), claim.name()));
        }
        return Optional.ofNullable(outcome.lease());
    }

    /**
     * Asks once. To repeat it after an error is harmless, because the holder is the same.
     *
     * @param wait how long the caller is going to wait if it is refused; null if it is not
     */
    Outcome ask(LeaseClaim claim, @Nullable Duration wait) {
        return ask(claim, wait, System.nanoTime());
    }

    private Outcome ask(LeaseClaim claim, @Nullable Duration wait, long began) {
        checkOpen();
        TrustWindow[] window = new TrustWindow[1];
        AcquireAnswer answer = database.alone("acquire " + claim, connection -> {
            window[0] = runner.window(claim.duration());
            return store.acquire(connection, claim, wait);
        });
        if (!answer.acquired()) {
            return new Outcome(null, answer);
        }
        cleaner.start();
        HeldLease lease = runner.keep(claim, answer, window[0], began);
        if (closed) {
            lease.close();
            checkOpen();
        }
        return new Outcome(lease, answer);
    }

    private void checkOpen() {
        if (closed) {
            throw new WindlassException(
                    "[" + database.name() + "] expected an open Windlass, got one that is closed; leases end with it");
        }
    }

    /** Waits in line, and as the first of the line for a release or the end of the lease. */
    Optional<HeldLease> within(LeaseClaim claim, Duration time) throws InterruptedException {
        Deadline deadline = Deadline.in(clock, time);
        if (!lines.enter(claim.toString(), deadline)) {
            return Optional.empty();
        }
        Semaphore signal = new Semaphore(0);
        Runnable wake = signal::release;
        room.enter(claim.name(), wake);
        try {
            return await(claim, deadline, signal);
        } finally {
            room.leave(claim.name(), wake);
            lines.leave(claim.toString());
        }
    }

    private Optional<HeldLease> await(LeaseClaim claim, Deadline deadline, Semaphore signal)
            throws InterruptedException {
        Looks looks = new Looks();
        long began = System.nanoTime();
        while (true) {
            signal.drainPermits();
            Duration wait = deadline.remaining();
            Outcome outcome = ask(claim, wait.isZero() ? null : wait, began);
            if (outcome.lease() != null || deadline.hasPassed()) {
                return held(claim, outcome);
            }
            Duration pause = room.pause(outcome.answer(), looks);
            Duration left = deadline.remaining();
            var unused = signal.tryAcquire(Math.min(pause.toNanos(), left.toNanos()), TimeUnit.NANOSECONDS);
        }
    }

    void close() {
        closed = true;
    }
}
