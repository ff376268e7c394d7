package dev.windlass.work;

import dev.windlass.base.Claims;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * Named queues of work, with priorities, limits over all nodes, progress and results. Thread-safe.
 *
 * <p>Methods with a {@link Connection} take part in the caller's transaction, and never commit, roll back or close it; one with
 * auto-commit on is refused with an {@link IllegalStateException}. The others join the transaction of {@code inTransaction} if this thread
 * is in one, or have one of their own, and repeat it after a deadlock or a lost connection. Bad arguments are refused with an
 * {@link IllegalArgumentException} before any SQL; what the database refuses arrives as {@link WindlassException}.
 *
 * <p>Of the items of a queue that can run, those with the higher priority are taken first, and of one priority those that have been ready
 * for longest. {@link WorkOptions#ageing} lets items of low priority overtake with time. Items with a key are taken in the turn of their
 * key instead; within a key, priorities are strict.
 */
public interface WorkQueue extends Claims<WorkItem, WorkIdentifier> {

    /**
     * Writes an item in a transaction of its own; it is committed when this returns.
     *
     * @return its identifier; under a unique key that another one keeps, that of the other
     */
    WorkIdentifier enqueue(WorkEntry entry);

    /** Writes an item in the caller's transaction: it exists if and when the caller commits. */
    WorkIdentifier enqueue(Connection connection, WorkEntry entry);

    /** Writes many items in one round trip and one transaction of its own: all or none. */
    List<WorkIdentifier> enqueueAll(Collection<WorkEntry> entries);

    /** Writes many items in one round trip, in the caller's transaction. */
    List<WorkIdentifier> enqueueAll(Connection connection, Collection<WorkEntry> entries);

    /** Makes an entry of an object, encoded by the codec of this Windlass. The name of the topic is the type. */
    <T> WorkEntry entry(String queue, Topic<T> type, T payload);

    /** Takes up to {@code batchSize} items of one queue, as {@link #claim(OwnerToken, Duration, int)} does of all. */
    List<WorkItem> claim(String queue, OwnerToken owner, Duration lease, int batchSize);

    /** Ends an item as done, with its result. Returns whether this owner has ended it, with this call or before. */
    boolean complete(OwnerToken owner, WorkIdentifier id, String result);

    /**
     * Renews the lease of an item that has not run out, and tells how far the work has come. Returns whether it goes on: not if the lease is
     * lost, or somebody wants the item to stop.
     */
    boolean heartbeat(OwnerToken owner, WorkIdentifier id, Duration lease, int percent, String text);

    /** The item as it is stored now, if there is one. */
    Optional<WorkItem> find(WorkIdentifier id);

    /** The item of this queue that has the unique key, if there is one that has not ended. */
    Optional<WorkItem> find(String queue, String uniqueKey);

    /**
     * Waits until an item has ended, and returns it, with its result. Holds no connection meanwhile. Refused inside a transaction, which
     * could be what the item waits for.
     *
     * @throws TimeoutException if it has not ended by then
     * @throws WindlassException if there is no such item, or no more
     */
    WorkItem await(WorkIdentifier id, Duration atMost) throws TimeoutException, InterruptedException;

    /** The attempts of an item that failed, the oldest first. */
    List<FailedAttempt> failures(WorkIdentifier id);

    /**
     * Cancels an item. If it is running, its handler is asked to stop: its {@link WorkContext} is cancelled, and its thread interrupted. Once
     * it has stopped without completing the item, or its node has died, the item has ended as cancelled. Returns whether it is cancelled or
     * asked to stop; an item that is unknown or has ended stays as it is.
     */
    boolean cancel(WorkIdentifier id);

    /** The same in the caller's transaction. */
    boolean cancel(Connection connection, WorkIdentifier id);

    /** Gives an item that nobody has claimed yet another time to run; in the past means now. Returns whether it was changed. */
    boolean reschedule(WorkIdentifier id, Instant runAt);

    /** The same in the caller's transaction. Until that ends, nobody can claim the item. */
    boolean reschedule(Connection connection, WorkIdentifier id, Instant runAt);

    /** Makes items that have been written steps of a join; as with messages of the outbox. Returns how many are new. */
    int attach(JoinIdentifier join, Collection<WorkIdentifier> items);

    /** The same in the caller's transaction. Keep that short: the lease of an item in progress is not renewed until it ends. */
    int attach(Connection connection, JoinIdentifier join, Collection<WorkIdentifier> items);

    /** Failed items, erasure, pauses and limits: what is done by hand, and recorded with a name of at most 255 characters. */
    WorkOperator operator(String name);
}
