package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;

/** An attempt that has ended, with what is to be written about it. Whoever writes it has it to himself. */
final class Ended<M> {
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE_IF_REFUSED = Duration.ofSeconds(5);
    private static final int MAX_REFUSALS = 8;

    final Attempt<M> attempt;
    final Outcome outcome;
    private boolean doubtful;
    private int putOff;
    private int refusals;
    private long notBefore;

    Ended(Attempt<M> attempt, Outcome outcome) {
        this.attempt = attempt;
        this.outcome = outcome;
    }

    /** Whether somebody else has written it. */
    boolean isWritten() {
        return attempt.isEndedByHandler();
    }

    WorkStore.Held held() {
        return attempt.held();
    }

    WorkStore.Failure failure(Outcome.Retry retry) {
        return new WorkStore.Failure(held(), retry.delay(), retry.error(), retry.counted());
    }

    WorkStore.Ending ending(Outcome.Fail fail) {
        return new WorkStore.Ending(held(), attempt.claimed.topic(), fail.error());
    }

    /** A try got no answer, so that it may have been written. */
    void doubt() {
        doubtful = true;
    }

    boolean isDoubtful() {
        return doubtful;
    }

    /** Somebody has it locked, and it was not written. */
    void locked(long now) {
        putOff(now, LONGEST_PAUSE);
    }

    /** The database does not take it. Returns whether to try again: the fault may not be its own. */
    boolean refused(long now) {
        putOff(now, LONGEST_PAUSE_IF_REFUSED);
        return ++refusals < MAX_REFUSALS;
    }

    boolean isRefused() {
        return refusals > 0;
    }

    private void putOff(long now, Duration longest) {
        long pause = SHORTEST_PAUSE.toNanos() << Math.min(putOff++, 16);
        notBefore = now + Math.min(pause, longest.toNanos());
    }

    /** How long to wait before the next try; not positive when it is time. */
    long waitNanos(long now) {
        return notBefore - now;
    }
}
