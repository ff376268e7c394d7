package dev.windlass.internal.lease;

import dev.windlass.base.Cancellation;
import dev.windlass.base.CancelledException;
import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.support.Require;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeasedWork;
import dev.windlass.lease.LostLeaseException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A lease on its way from held to lost or closed. Guarded by itself, so that an interrupt never hits a thread after its work
 * has ended; no database is called under that lock.
 */
final class HeldLease implements Lease {

    /** How much earlier than asked for a renewal may be, so that many leases taken together are not renewed together. */
    private static final double JITTER = 0.1;

    private static final Duration LAST_CALL = Duration.ofSeconds(1);

    final LeaseClaim claim;
    private final LeaseRunner runner;
    private final long fencingToken;
    private final List<Runnable> callbacks = new ArrayList<>();
    private final CountDownLatch workEnded = new CountDownLatch(1);
    private volatile TrustWindow window;
    private volatile Deadline renewal;
    private volatile Instant expiresAt;
    private volatile @Nullable LossReason lost;
    private volatile boolean closed;
    private volatile boolean stopping;
    private @Nullable Thread thread;
    private boolean interrupted;

    HeldLease(LeaseClaim claim, LeaseRunner runner, AcquireAnswer answer, TrustWindow window) {
        this.claim = claim;
        this.runner = runner;
        this.fencingToken = answer.fencingToken();
        this.expiresAt = answer.expiresAt();
        this.window = window;
        this.renewal = nextRenewal(window);
    }

    /** Jitter only ever brings it forward: what is asked for is a latest time, and lies well before the end. */
    private Deadline nextRenewal(TrustWindow opened) {
        double part = renewAt() * (1 - JITTER * ThreadLocalRandom.current().nextDouble());
        long left = claim.duration().toNanos() - (long) (claim.duration().toNanos() * part);
        return new Deadline(opened.deadline().clock(), opened.deadline().atNanos() - left);
    }

    private double renewAt() {
        return claim.renewAt() == null ? runner.renewAt() : claim.renewAt();
    }

    @Override
    public String name() {
        return claim.name();
    }

    @Override
    public String owner() {
        return claim.owner();
    }

    @Override
    public long fencingToken() {
        return fencingToken;
    }

    @Override
    public Instant expiresAt() {
        return expiresAt;
    }

    /** The database counts the duration from its own time. */
    @Override
    public Instant serverTime() {
        return expiresAt.minus(claim.duration());
    }

    @Override
    public boolean isLost() {
        if (!isOver() && window.hasPassed()) {
            lose(LossReason.RAN_OUT);
        }
        return isOver();
    }

    private boolean isOver() {
        return lost != null || closed;
    }

    @Override
    public void throwIfLost() {
        if (isLost()) {
            throw new LostLeaseException(lossMessage());
        }
    }

    private String lossMessage() {
        LossReason loss = lost;
        return this + " is not held any more: " + (loss == null ? "it was closed" : loss.reason)
                + "; others may hold it now";
    }

    @Override
    public boolean tryRenewNow() {
        return !isLost() && runner.renewNow(this) && !isLost();
    }

    @Override
    public Cancellation cancellation() {
        return new Cancellation() {
            @Override
            public boolean isCancelled() {
                return stopping || isLost();
            }

            @Override
            public void throwIfCancelled() {
                if (isCancelled()) {
                    throw new CancelledException(
                            isLost() ? lossMessage() : HeldLease.this + " ends: its node is closing");
                }
            }
        };
    }

    @Override
    public void onLost(Runnable callback) {
        Require.present("callback", callback);
        synchronized (this) {
            if (!isOver()) {
                callbacks.add(callback);
                return;
            }
        }
        if (lost != null) {
            runner.call(callback);
        }
    }

    /** The database has renewed it; an answer that was overtaken by a later one changes nothing. */
    synchronized void renewed(TrustWindow opened, Instant until) {
        if (opened.endsAfter(window)) {
            window = opened;
            expiresAt = until;
            renewal = nextRenewal(opened);
        }
    }

    /** Whoever closed it meanwhile is not told. */
    void lose(LossReason loss) {
        List<Runnable> told;
        synchronized (this) {
            if (isOver()) {
                return;
            }
            lost = loss;
            interrupt();
            told = List.copyOf(callbacks);
            callbacks.clear();
        }
        runner.lost(this, loss);
        told.forEach(runner::call);
    }

    /** Asks the work to stop; the lease is held on until it does. */
    void askToStop() {
        stopping = true;
    }

    synchronized void interrupt() {
        if (thread != null) {
            thread.interrupt();
            interrupted = true;
        }
    }

    /**
     * Waits for the work to stop, and interrupts it when the time is over. If it goes on even then, so does the lease, until it is
     * not renewed any more. An interrupt of the caller ends the time, not the orderly end.
     */
    void endWork(Deadline deadline) {
        askToStop();
        boolean calm = awaitCalmly(deadline);
        if (isAtWork()) {
            interrupt();
            calm &= awaitCalmly(Deadline.in(MonotonicClock.system(), LAST_CALL));
        }
        if (isAtWork()) {
            runner.doesNotStop(this);
        }
        if (!calm) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether it was not interrupted. */
    private boolean awaitCalmly(Deadline deadline) {
        try {
            awaitWork(deadline);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** Returns whether the work has ended by then, and the lease was given back. */
    boolean awaitWork(Deadline deadline) throws InterruptedException {
        return workEnded.await(deadline.remaining().toNanos(), TimeUnit.NANOSECONDS);
    }

    boolean isAtWork() {
        return workEnded.getCount() > 0;
    }

    /** Runs work under it, on this thread, and closes it. */
    void run(LeasedWork work) throws Exception {
        Exception failure = null;
        boolean held;
        begin();
        try {
            work.run(this);
        } catch (Exception e) {
            failure = e;
        } finally {
            held = end();
            close();
            workEnded.countDown();
        }
        if (!held) {
            throw new LostLeaseException(lossMessage(), failure);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private synchronized void begin() {
        thread = Thread.currentThread();
        if (isOver()) {
            interrupt();
        }
    }

    /** Returns whether the lease was held until it ended, or until the work itself closed it. */
    private boolean end() {
        boolean over = isLost();
        synchronized (this) {
            if (interrupted) {
                Thread.interrupted();
            }
            thread = null;
            return !over || lost == null;
        }
    }

    synchronized boolean hasWork() {
        return thread != null;
    }

    synchronized boolean isWorkOf(Thread other) {
        return thread == other;
    }

    boolean isRenewalDue() {
        return renewal.hasPassed();
    }

    Duration untilRenewal() {
        return renewal.remaining();
    }

    /** What is left of the time in which it may be believed. */
    Duration left() {
        return window.remaining();
    }

    /** What is left of it when a renewal is due. */
    Duration reserve() {
        return claim.duration().minus(Duration.ofNanos((long) (claim.duration().toNanos() * renewAt())));
    }

    @Override
    public void close() {
        boolean release;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            release = lost != LossReason.REFUSED;
            callbacks.clear();
        }
        runner.closed(this, release);
    }

    @Override
    public String toString() {
        return runner.describe(this);
    }
}
