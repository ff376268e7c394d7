package dev.windlass.internal.queue;

import dev.windlass.internal.database.Proof;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Up to where it is known that no ready work is left in a topic, so that a claim need not step over dead index entries.
 *
 * <p>A position that a claim reached becomes the bound once a later claim from the old bound has reached past it, and saw the end
 * of every transaction that was open at the first claim: its {@link Proof} covers that of the first. What can still appear behind
 * a bound (a claim that was rolled back, a database clock that was set back) waits for the next sweep.
 */
public final class ClaimBound {
    private Position confirmed = Position.START;
    private @Nullable Candidate candidate;

    private record Candidate(Position position, Proof proof) {}

    public Position position() {
        return confirmed;
    }

    /**
     * Takes note of a claim from the bound.
     *
     * @param claimed what it took of this topic
     * @param exhausted whether it saw all that was due
     */
    public void advance(List<? extends Claimed<?>> claimed, boolean exhausted) {
        if (claimed.isEmpty()) {
            return;
        }
        Claimed<?> last = claimed.get(0);
        for (Claimed<?> each : claimed) {
            last = each.position().compareTo(last.position()) > 0 ? each : last;
        }
        advance(last.position(), last.proof(), exhausted);
    }

    /**
     * Takes note of a claim from the bound that took something.
     *
     * @param last the last position it took
     * @param exhausted whether it saw all that was due
     */
    public void advance(Position last, Proof proof, boolean exhausted) {
        if (candidate != null
                && proof.covers(candidate.proof)
                && (exhausted || last.compareTo(candidate.position) > 0)) {
            confirmed = candidate.position;
            candidate = null;
        }
        if (candidate == null && last.compareTo(confirmed) > 0) {
            candidate = new Candidate(last, proof);
        }
    }

    public void reset() {
        confirmed = Position.START;
        candidate = null;
    }
}
