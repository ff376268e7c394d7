package dev.windlass.internal.dispatch;

import dev.windlass.base.Overtime;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Note;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One claimed message on its way through this node; also the cancellation signal its handler sees.
 *
 * <p>It is cancelled from the moment its lease runs out by the monotonic clock, whoever looks first. A renewal that comes after
 * that look does not take it back: the handler may have stopped half-way already, and an answer that turns around is worth nothing.
 *
 * <p>Guarded by itself, so that an interrupt never hits the thread after it has gone on to another message.
 */
final class Attempt<M> implements Running {
    final TopicLane<M> lane;
    /** That of its lane, or what its lane has for it. */
    final Handling<M> handling;
    /** Without its content as soon as it has ended: what only waits to be written needs no memory for it. */
    volatile Claimed<M> claimed;
    /** What its lane's breaker gave it at its start; guarded by the lock of the lanes. */
    int began;
    /** Those that are handled with it, in one call of the handler; guarded by the lock of the lanes. */
    List<Attempt<M>> companions = List.of();
    /** Whether it is to have a call of its own, since one together with others has failed; guarded by the lock of the lanes. */
    boolean alone;

    private final long heldSince = System.nanoTime();
    private volatile long leaseUntil;
    private volatile @Nullable Reason cancelled;
    private volatile @Nullable Note note;
    private volatile boolean endedByHandler;
    private @Nullable Thread thread;
    private long startedAt;
    private boolean lapsed;
    private boolean overdue;
    private boolean detached;
    private boolean ended;

    enum Reason {
        LEASE_LOST,
        TIMED_OUT,
        SHUTDOWN,
        STOPPED
    }

    Attempt(Claimed<M> claimed, TopicLane<M> lane, long leaseUntil) {
        this.claimed = claimed;
        this.lane = lane;
        this.handling = lane.handling.of(claimed.message());
        this.leaseUntil = leaseUntil;
    }

    WorkStore.Held held() {
        return new WorkStore.Held(claimed.id(), claimed.owner(), claimed.ordered(), note);
    }

    int priority() {
        return claimed.priority();
    }

    /** Whether nothing on this node handles it, although its topic is known. */
    boolean isUnknown() {
        return handling.isUnknown();
    }

    @Override
    public void note(Note told) {
        note = told;
    }

    @Override
    public void wasEnded() {
        endedByHandler = true;
    }

    boolean isEndedByHandler() {
        return endedByHandler;
    }

    /** Whether its start is written down, so that a lease that runs out afterwards is held against it. */
    boolean isMarkedAtStart() {
        return claimed.leaseExpiries() >= 1;
    }

    /** Whether it may be what ended a process: its lease ran out after its handler had been started. */
    boolean isSuspect() {
        return claimed.crashes() >= 1;
    }

    /** Whether nothing speaks against handling it with others: what failed before is tried alone, so that none is blamed for another. */
    boolean isSociable() {
        return !alone && claimed.retryCount() == 0 && claimed.leaseExpiries() == 0 && !isCancelled();
    }

    /** Nanoseconds from when it came into this node's hand to the start of its handler; zero if that was never started. */
    long heldBeforeStart() {
        return startedAt == 0 ? 0 : startedAt - heldSince;
    }

    /** Nanoseconds since it came into this node's hand. */
    long heldFor() {
        return System.nanoTime() - heldSince;
    }

    synchronized void begin() {
        thread = Thread.currentThread();
        startedAt = System.nanoTime();
        if (cancelled != null) {
            thread.interrupt();
        }
    }

    /**
     * A call with others has ended in vain, and it has one of its own now: its time begins anew, also if it was up. Returns whether it
     * may begin.
     */
    synchronized boolean beginAgain() {
        if (cancelled == Reason.TIMED_OUT && !detached) {
            cancelled = null;
            overdue = false;
            Thread.interrupted();
        }
        startedAt = System.nanoTime();
        return !isCancelled();
    }

    /** The handler has returned, or was not started. Returns how long it took. */
    synchronized long end() {
        long took = thread == null ? 0 : System.nanoTime() - startedAt;
        ended = true;
        thread = null;
        Thread.interrupted();
        return took;
    }

    /** Its outcome is known, with or without a handler. */
    synchronized void conclude() {
        ended = true;
        claimed = claimed.withoutContent();
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

    /** Together, so that it never hits a call that has just begun anew. */
    synchronized void cancelIfRunningFor(Duration time, long now) {
        if (runningFor(now) > time.toNanos()) {
            cancel(Reason.TIMED_OUT);
        }
    }

    @Override
    public boolean isCancelled() {
        if (cancelled == null && leaseLeft(System.nanoTime()) <= 0) {
            lapse();
        }
        return cancelled != null;
    }

    private synchronized void lapse() {
        lapsed |= cancel(Reason.LEASE_LOST);
    }

    /** Whether the clock has cancelled it; true once. */
    synchronized boolean tellsOfLapse() {
        boolean tells = lapsed;
        lapsed = false;
        return tells;
    }

    boolean isCancelled(Reason reason) {
        return cancelled == reason;
    }

    /**
     * Whether its lease goes on: not when its handler was asked to stop and has not, unless its message has to wait for that, or
     * somebody has cancelled it, which ends it only when its handler has stopped; but until its outcome has been written.
     */
    boolean keepsLease() {
        if (!isCancelled()) {
            return true;
        }
        boolean held = isCancelled(Reason.STOPPED)
                || (isCancelled(Reason.TIMED_OUT) && handling.options().overtime() == Overtime.HOLD);
        return !isCancelled(Reason.LEASE_LOST) && (held || isOver());
    }

    /** Whether its outcome is known, with or without its handler. */
    private synchronized boolean isOver() {
        return ended || detached;
    }

    /** It should have stopped by now, and has failed, however it returns. Returns whether this is news. */
    synchronized boolean overstays() {
        boolean news = !overdue && !ended;
        overdue |= news;
        return news;
    }

    synchronized boolean isOverdue() {
        return overdue;
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

    /** Nanoseconds until the lease runs out, as far as this node knows; negative when it has. */
    long leaseLeft(long now) {
        return leaseUntil - now;
    }
}
