package dev.windlass.base;

/**
 * Tells a handler that it should stop: its lease is lost, its time is up, or the process is shutting down.
 *
 * <p>The handler's thread is interrupted too. A handler that goes on regardless may find that another node has started the same
 * message. Safe to ask from any thread; the answer compares a clock, so that it is true from the moment a lease runs out.
 */
public interface Cancellation {

    /** Whether the handler should stop. Never turns back to false. */
    boolean isCancelled();

    /**
     * Stops the handler here if it should stop.
     *
     * @throws CancelledException if this has been cancelled
     */
    default void throwIfCancelled() {
        if (isCancelled()) {
            throw new CancelledException("the handler was asked to stop");
        }
    }
}
