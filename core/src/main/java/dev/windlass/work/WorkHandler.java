package dev.windlass.work;

import dev.windlass.base.NotYet;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;

/**
 * Handles the items of one type in one queue.
 *
 * <p>Returning means done. Throwing means a failed attempt, to be repeated as the handler's
 * {@linkplain dev.windlass.base.RetryPolicy retry policy} says; {@link PermanentFailure} and {@link RetryAfter} say it themselves, and
 * {@link NotYet} puts the item off without costing an attempt. Called for different items at once, never for one item twice at once while
 * its lease holds, which is renewed as long as the handler runs. The same item may come again after a failure or a crash.
 */
@FunctionalInterface
public interface WorkHandler {

    /**
     * Handles one attempt.
     *
     * @param context tells when to stop, and takes progress and result
     */
    void handle(WorkItem item, WorkContext context) throws Exception;

    /** A handler that needs no more than the item. */
    @FunctionalInterface
    interface Simple {
        void handle(WorkItem item) throws Exception;
    }

    /** A handler of decoded payloads. */
    @FunctionalInterface
    interface Typed<T> {
        void handle(T payload, WorkItem item, WorkContext context) throws Exception;
    }
}
