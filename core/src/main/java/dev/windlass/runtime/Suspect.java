package dev.windlass.runtime;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The place for the one message that is handled alone: its lease has run out several times, so it may be what killed the process
 * each time. Used under the lock of the {@link Hand}.
 */
final class Suspect<M> {
    /** One expiry happens to innocents too: a node was redeployed hard, a neighbour brought it down. */
    private static final int EXPIRIES = 2;

    private @Nullable Attempt<M> attempt;
    private boolean started;
    private long since;

    /** Whether a message must be handled alone. */
    static boolean is(Claimed<?> claimed) {
        return claimed.leaseExpiries() >= EXPIRIES;
    }

    boolean isThere() {
        return attempt != null;
    }

    void put(Attempt<M> suspect) {
        attempt = suspect;
        started = false;
        since = System.nanoTime();
    }

    boolean mayStart(long now) {
        return attempt != null && !started && attempt.lane.allowance(now) > 0;
    }

    Attempt<M> start() {
        started = true;
        return Objects.requireNonNull(attempt);
    }

    /** Hands it back if its lane rests. */
    void recall(long now, List<Attempt<M>> back) {
        if (attempt != null && attempt.lane.allowance(now) == 0) {
            giveBack(back);
        }
    }

    /** Hands it back if it has waited for longer than this. */
    void giveBackAfter(long nanos, List<Attempt<M>> back) {
        if (System.nanoTime() - since > nanos) {
            giveBack(back);
        }
    }

    /** Hands it back unless it has started. */
    void giveBack(List<Attempt<M>> back) {
        if (attempt != null && !started) {
            back.add(attempt);
            attempt = null;
        }
    }

    /** It leaves with its outcome. */
    void leaveUnlessIn(Set<Attempt<M>> inHand) {
        if (attempt != null && !inHand.contains(attempt)) {
            attempt = null;
        }
    }
}
