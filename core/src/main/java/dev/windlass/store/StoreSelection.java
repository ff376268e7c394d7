package dev.windlass.store;

import java.util.List;
import java.util.Optional;

/**
 * Which store is claimed from next, when several have to wait for it: when as much is in hand as may be, or as many claims are under
 * way.
 *
 * <p>Called by one thread at a time, for moments: it must be quick, and not block.
 */
@FunctionalInterface
public interface StoreSelection {
    /**
     * Chooses one of those that wait.
     *
     * @param waiting the identifiers of the stores that wait, in the order in which they began to; never empty
     * @param last the store that was claimed from last, if there is one
     * @param lastCount how many messages it gave
     */
    String next(List<String> waiting, Optional<String> last, int lastCount);

    /** One batch from each in turn: who has waited longest comes first. */
    static StoreSelection roundRobin() {
        return (waiting, last, lastCount) -> waiting.get(0);
    }

    /** The same one again as long as it gives messages and wants to be claimed from; then the one that has waited longest. */
    static StoreSelection drainFirst() {
        return (waiting, last, lastCount) ->
                lastCount > 0 && last.isPresent() && waiting.contains(last.get()) ? last.get() : waiting.get(0);
    }
}
