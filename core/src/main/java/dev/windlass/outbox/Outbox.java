package dev.windlass.outbox;

import dev.windlass.FailedHead;
import dev.windlass.OwnerToken;
import dev.windlass.Topic;
import dev.windlass.WindlassException;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.time.Duration;
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
public interface Outbox {

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
     * Takes up to {@code batchSize} messages that are ready and due, of whatever topic is not paused, the oldest of each first.
     *
     * <p>Nobody else gets them until the lease has run out. Take a fresh token for each claim, and {@link #heartbeat} well
     * before the lease ends when the work takes longer.
     *
     * <p>If this call fails, it may have taken some all the same: call {@link #release(OwnerToken)}.
     *
     * @return what was claimed; empty when nothing is ready
     */
    List<OutboxMessage> claim(OwnerToken owner, Duration lease, int batchSize);

    /** Ends messages as done. Ids that this owner does not hold are ignored. Returns how many it held. */
    int ack(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids);

    /**
     * Returns messages to ready after a failed attempt; they can be claimed again after min(2<sup>retryCount</sup> s, 60 s).
     * Returns how many this owner held.
     */
    int abandon(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids);

    /** The same, with a pause and an error text to remember, of which 2,048 characters are kept. */
    int abandon(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, Duration delay, String error);

    /** Returns messages to ready at once, without a counted attempt, as when the worker stops. Returns how many it held. */
    int release(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids);

    /**
     * Returns all messages that this owner holds to ready at once, without a counted attempt: for when {@link #claim} has failed,
     * and may have taken some all the same. Returns how many. If the answer of the claim is still on its way, it may be none;
     * call it again a little later.
     */
    int release(OwnerToken owner);

    /**
     * Ends messages as failed, with the reason, of which 2,048 characters are kept. What waits behind them under an ordering key
     * waits on. Returns how many this owner held.
     */
    int fail(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, String error);

    /** The same without a text: what is known of an earlier attempt stays. */
    int fail(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids);

    /** The same, with a choice of what becomes of those that wait behind. */
    int fail(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, String error, FailedHead head);

    /**
     * Renews leases that have not run out. Returns how many; fewer than given means that the others are lost, and their
     * handling must stop.
     */
    int heartbeat(OwnerToken owner, Collection<OutboxWorkItemIdentifier> ids, Duration lease);

    /**
     * Returns messages whose lease ran out to ready. Returns how many. Nodes with background work do this by themselves.
     * Nothing is reaped in the first lease period after the database server started.
     */
    int reapExpired();
}
