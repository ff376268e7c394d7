package dev.windlass.inbox;

import dev.windlass.base.Cancellation;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import java.sql.Connection;
import java.util.List;

/**
 * Handles the queued messages of a topic.
 *
 * <p>Returning means done. Throwing means a failed attempt, to be repeated as the handler's
 * {@linkplain dev.windlass.base.RetryPolicy retry policy} says; {@link PermanentFailure} and {@link RetryAfter} say it themselves.
 * Called for different messages at once, never for one message twice at once while its lease holds. The same message may come
 * again after a failure or a crash; only what an {@link InTransaction} handler does to the database happens once.
 */
@FunctionalInterface
public interface InboxHandler {

    /**
     * Handles one attempt.
     *
     * @param cancellation turns true, and the thread is interrupted, when the lease is lost, the time is up, or the process
     *     shuts down
     */
    void handle(InboxMessage message, Cancellation cancellation) throws Exception;

    /** A handler that needs no more than the message. */
    @FunctionalInterface
    interface Simple {
        void handle(InboxMessage message) throws Exception;
    }

    /** A handler of decoded payloads. */
    @FunctionalInterface
    interface Typed<T> {
        void handle(T payload, InboxMessage message) throws Exception;
    }

    /**
     * A handler whose work on the database is committed together with the end of the message: it happens once, however
     * often the message is tried. Must neither commit nor roll back nor close the connection.
     */
    @FunctionalInterface
    interface InTransaction {
        void handle(Connection connection, InboxMessage message) throws Exception;
    }

    /**
     * Handles several messages in one transaction, for handlers that are short, or can write many rows at once: a commit for each message
     * is most of their time.
     *
     * <p>It gets what waits on this node just then, one message or more, in no order that matters; it waits for none. If it throws, or its
     * transaction cannot be committed, nothing has happened to the database, and each message is handled in a transaction of its own,
     * so that only the one at fault has failed. A message that has failed before comes alone. Whatever a message locks stays locked
     * for those after it: take rows in one order, or two transactions wait for each other.
     */
    @FunctionalInterface
    interface TogetherInTransaction {
        void handle(Connection connection, List<InboxMessage> messages) throws Exception;
    }

    /** The same as {@link InTransaction} with the payload decoded. */
    @FunctionalInterface
    interface TypedInTransaction<T> {
        void handle(Connection connection, T payload, InboxMessage message) throws Exception;
    }
}
