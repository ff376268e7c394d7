package dev.windlass.runtime;

import dev.windlass.Cancellation;
import org.jspecify.annotations.Nullable;

/**
 * One claimed message on its way through this node; also the cancellation signal its handler sees.
 *
 * <p>Guarded by itself, so that an interrupt never hits the thread after it has gone on to another message.
 */
final class Attempt<M> implements Cancellation {
    final Claimed<M> claimed;
    final Lane<M> lane;
    /** What its lane's breaker gave it at its start; guarded by the lock of the hand. */
    int began;

    private volatile long leaseUntil;
    private volatile @Nullable Reason cancelled;
    private @Nullable Thread thread;
    private long startedAt;
    private boolean detached;
    private boolean ended;

    enum Reason {
        LEASE_LOST,
        TIMED_OUT,
        SHUTDOWN
    }

    Attempt(Claimed<M> claimed, Lane<M> lane, long leaseUntil) {
        this.claimed = claimed;
        this.lane = lane;
        this.leaseUntil = leaseUntil;
    }

    WorkStore.Held held() {
        return new WorkStore.Held(claimed.id(), claimed.owner(), claimed.ordered());
    }

    synchronized void begin() {
        thread = Thread.currentThread();
        startedAt = System.nanoTime();
        if (cancelled != null) {
            thread.interrupt();
        }
    }

    /** The handler has returned. Returns how long it took. */
    synchronized long end() {
        ended = true;
        thread = null;
        Thread.interrupted();
        return System.nanoTime() - startedAt;
    }

    /** Its outcome is known, with or without a handler. */
    synchronized void conclude() {
        ended = true;
    }

    /** Returns whether this cancelled it: one that has ended, or was cancelled before, stays as it is. */
    synchronized boolean cancel(Reason reason) {
        if (ended || cancelled != null) {
            return false;
        }
        cancelled = reason;
        if (thread != null) {
            thread.interrupt();
        }
        return true;
    }

    @Override
    public boolean isCancelled() {
        return cancelled != null;
    }

    boolean isCancelled(Reason reason) {
        return cancelled == reason;
    }

    /** Gives the handler up: whatever it still does, its outcome is not taken any more. */
    synchronized void detach() {
        detached = true;
    }

    synchronized boolean isDetached() {
        return detached;
    }

    synchronized boolean isRunning() {
        return thread != null;
    }

    synchronized long runningFor(long now) {
        return thread == null ? 0 : now - startedAt;
    }

    void renewed(long until) {
        leaseUntil = until;
    }

    /** Whether it must not be started: somebody else may have it by now. */
    boolean isLost(long now) {
        return isCancelled() || leaseLeft(now) <= 0;
    }

    /** Nanoseconds until the lease runs out, as far as this node knows; negative when it has. */
    long leaseLeft(long now) {
        return leaseUntil - now;
    }
}
