package dev.windlass.outbox;

import dev.windlass.base.Cancellation;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;

/**
 * Handles the messages of a topic.
 *
 * <p>Returning means done. Throwing means a failed attempt, to be repeated as the handler's
 * {@linkplain dev.windlass.base.RetryPolicy retry policy} says; {@link PermanentFailure} and {@link RetryAfter} say it themselves.
 * Called for different messages at once, never for one message twice at once while its lease holds. The same message may come again after a
 * failure or a crash: handlers must be idempotent, by {@link OutboxMessage#messageId()} for example.
 *
 * <p>No transaction and no connection is held while a handler runs.
 */
@FunctionalInterface
public interface OutboxHandler {

    /**
     * Handles one attempt.
     *
     * @param cancellation turns true, and the thread is interrupted, when the lease is lost, the time is up, or the process
     *     shuts down
     */
    void handle(OutboxMessage message, Cancellation cancellation) throws Exception;

    /** A handler that needs no more than the message. */
    @FunctionalInterface
    interface Simple {
        void handle(OutboxMessage message) throws Exception;
    }

    /** A handler of decoded payloads. */
    @FunctionalInterface
    interface Typed<T> {
        void handle(T payload, OutboxMessage message) throws Exception;
    }
}
