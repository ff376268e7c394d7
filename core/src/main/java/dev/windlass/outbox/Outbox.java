package dev.windlass.outbox;

import dev.windlass.base.Claims;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Writes messages, alone or in the caller's transaction, and lets custom workers claim and complete them.
 *
 * <p>Most programs only enqueue, and leave the rest to handlers registered with {@link dev.windlass.Windlass}. Thread-safe.
 * Methods with a {@link Connection} take part in the caller's transaction, and never commit, roll back or close
 * it; one with auto-commit on is refused with an {@link IllegalStateException}. The others join the transaction of
 * {@code inTransaction} if this thread is in one, or have one of their own, and repeat it after a deadlock or a lost connection.
 * Bad arguments are
 * refused with an {@link IllegalArgumentException} before any SQL; what the database refuses arrives as
 * {@link WindlassException}.
 */
public interface Outbox extends Claims<OutboxMessage, OutboxWorkItemIdentifier> {

    /**
     * Writes a message in a transaction of its own; it is committed when this returns.
     *
     * @return its identifier; under a deduplication key that is taken, that of the message that was first
     */
    OutboxMessageIdentifier enqueue(OutboxEntry entry);

    /** Writes a message in the caller's transaction: it exists if and when the caller commits. */
    OutboxMessageIdentifier enqueue(Connection connection, OutboxEntry entry);

    /** Writes many messages in one round trip and one transaction of its own: all or none. */
    List<OutboxMessageIdentifier> enqueueAll(Collection<OutboxEntry> entries);

    /** Writes many messages in one round trip, in the caller's transaction. */
    List<OutboxMessageIdentifier> enqueueAll(Connection connection, Collection<OutboxEntry> entries);

    /** Writes a message of a typed topic in a transaction of its own. */
    <T> OutboxMessageIdentifier enqueue(Topic<T> topic, T payload);

    /** Writes a message of a typed topic in the caller's transaction. */
    <T> OutboxMessageIdentifier enqueue(Connection connection, Topic<T> topic, T payload);

    /** Makes an entry of an object, encoded by the codec of this Windlass. */
    OutboxEntry entry(String topic, Object payload);

    /** Makes an entry of a typed topic, for those who want to say more about the message. */
    <T> OutboxEntry entry(Topic<T> topic, T payload);

    /**
     * Starts a join and writes its steps, in a transaction of its own: all or none. The join may expect further steps, which are
     * attached or reported later.
     *
     * <pre>{@code
     * outbox.fanOut(
     *         JoinEntry.of(2).withFollowUp(FollowUp.completed("etl.transform", customer)),
     *         List.of(OutboxEntry.of("extract.orders", customer), OutboxEntry.of("extract.products", customer)));
     * }</pre>
     */
    JoinIdentifier fanOut(JoinEntry join, Collection<OutboxEntry> steps);

    /** The same in the caller's transaction. */
    JoinIdentifier fanOut(Connection connection, JoinEntry join, Collection<OutboxEntry> steps);

    /**
     * Makes messages that have been written steps of a join. One that has ended counts at once, also if it is gone by now and the
     * join was started before it was written. {@link OutboxEntry#withJoin} does it in the transaction that writes the message.
     * Returns how many are new; what is a step already stays one.
     */
    int attach(JoinIdentifier join, Collection<OutboxMessageIdentifier> messages);

    /** The same in the caller's transaction. Keep that short: the lease of a message in progress is not renewed until it ends. */
    int attach(Connection connection, JoinIdentifier join, Collection<OutboxMessageIdentifier> messages);

    /** The message as it is stored now, if there is one. */
    Optional<OutboxMessage> find(OutboxMessageIdentifier id);

    /** The attempts of a message that failed, the oldest first. */
    List<FailedAttempt> failures(OutboxMessageIdentifier id);

    /**
     * Cancels a message that nobody has claimed yet. Returns whether it was; a message that is unknown, in progress or ended
     * stays as it is.
     */
    boolean cancel(OutboxMessageIdentifier id);

    /** The same in the caller's transaction. Until that ends, nobody can claim the message. */
    boolean cancel(Connection connection, OutboxMessageIdentifier id);

    /** Gives a message that nobody has claimed yet another due time; in the past means now. Returns whether it was changed. */
    boolean reschedule(OutboxMessageIdentifier id, Instant dueTime);

    /** The same in the caller's transaction. Until that ends, nobody can claim the message. */
    boolean reschedule(Connection connection, OutboxMessageIdentifier id, Instant dueTime);

    /** Dead letters, erasure, pauses: what is done by hand, and recorded with a name of at most 255 characters. */
    OutboxOperator operator(String name);

    /**
     * Ends claimed messages as failed, with a choice of what becomes of those that wait behind under an ordering key; without, they
     * wait on. Returns how many this owner held.
     */
    int fail(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, String error, FailedHead head);
}
