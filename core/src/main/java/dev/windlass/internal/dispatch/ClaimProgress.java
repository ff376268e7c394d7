package dev.windlass.internal.dispatch;

import dev.windlass.internal.queue.ClaimBound;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.Ranking;
import java.util.List;

/** How far the claims of one topic have come. Used under the lock of the {@link Lanes}; whoever wants to may ask
 * whether it is drained. */
final class ClaimProgress<M> {
    private final Ranking ranking;
    private final List<ClaimBound> bounds;
    private volatile boolean drained;

    ClaimProgress(Ranking ranking) {
        this.ranking = ranking;
        this.bounds = ranking.priorities().stream().map(any -> new ClaimBound()).toList();
    }

    /** Whether nothing else was ready at the last claim. */
    boolean isDrained() {
        return drained;
    }

    /** It is left out of a claim, and what is not asked for may be ready. */
    void notAsked() {
        drained = false;
    }

    /** Up to where nothing is left, for each priority. */
    List<Position> after() {
        return bounds.stream().map(ClaimBound::position).toList();
    }

    /**
     * Takes note of a claim. What was taken in the turn of its key says nothing of the others.
     *
     * @param all whether it took all that it could
     * @param limited whether that may be less than what is due
     */
    void advance(List<Claimed<M>> claimed, boolean all, boolean limited) {
        drained = all;
        for (int i = 0; i < bounds.size(); i++) {
            int priority = ranking.priorities().get(i);
            List<Claimed<M>> mine = bounds.size() == 1
                    ? claimed
                    : claimed.stream()
                            .filter(each -> each.priority() == priority && !each.keyed())
                            .toList();
            bounds.get(i).advance(mine, all && !limited);
        }
    }
}
