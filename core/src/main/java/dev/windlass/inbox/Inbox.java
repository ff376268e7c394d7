package dev.windlass.inbox;

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

/**
 * Remembers what has arrived, so that a message which is delivered twice is processed once.
 *
 * <p>Two ways to use it. As a <em>guard</em>: who receives a message asks, processes it and marks it, in one call
 * ({@link #process}), step by step ({@link #begin} and the marks that take its attempt), or in the manner of
 * {@link #alreadyProcessed}. As a <em>queue</em>: who receives a message stores it with {@link #enqueue}, and handlers
 * registered with {@link dev.windlass.Windlass} do the rest.
 *
 * <p>Thread-safe. Methods with a {@link Connection} take part in the caller's transaction, and never commit, roll back or close
 * it; one with auto-commit on is refused with an {@link IllegalStateException}. The others join the transaction of
 * {@code inTransaction} if this thread is in one, or have one of their own, and repeat it after a deadlock or a lost connection.
 * Bad
 * arguments are refused with an {@link IllegalArgumentException} before any SQL; what the database refuses arrives as
 * {@link WindlassException}. A mark of an attempt that has been lost is an {@link AttemptLostException}.
 */
public interface Inbox extends Claims<InboxMessage, InboxWorkItemIdentifier> {

    /**
     * Processes a message once: begins it, runs the work in a transaction that also marks it as processed, and commits.
     *
     * <p>If the work throws, its transaction is rolled back, the failed attempt is recorded, and the exception goes on to the
     * caller. {@link dev.windlass.base.PermanentFailure} gives the message up at once, {@link dev.windlass.base.RetryAfter} says how long
     * it rests; so does having used up the attempts. While the work goes on its lease is renewed, on another connection and for as
     * long as the options say. A process that stands still for a whole lease, or work beyond that bound, may lose the message to
     * somebody else; then the work is rolled back with an {@link AttemptLostException}.
     */
    Processed process(String source, String messageId, InboxWork work) throws Exception;

    /** The same, and notices if something else was delivered under this key before. */
    Processed process(String source, String messageId, ContentHash hash, InboxWork work) throws Exception;

    /**
     * Asks to process a message. Never waits for somebody else; the attempt, if it is granted, is committed when this returns.
     * Nobody renews its lease but the caller, with {@link #markProcessing}: who forgets an attempt must not keep the message.
     */
    Begin begin(String source, String messageId);

    Begin begin(String source, String messageId, ContentHash hash);

    /** Renews the attempt's lease, for work that takes long; the attempt is lost if its lease has run out. */
    void markProcessing(InboxAttempt attempt);

    /** Ends the attempt: the message is processed. */
    void markProcessed(InboxAttempt attempt);

    /**
     * The same in the transaction of the business change: both are committed, or neither. If that transaction is tried again,
     * because the answer to its commit was lost, and had been committed, this is an {@link AttemptLostException}: the work has
     * been done. If another transaction has the message's row locked, this waits for a second; then it is a
     * {@link WindlassException}, and the transaction must be rolled back and can be tried again.
     */
    void markProcessed(Connection connection, InboxAttempt attempt);

    /** Ends the attempt, and gives the message up. Of the reason, 2,048 characters are kept. */
    void markDead(InboxAttempt attempt, String reason);

    /**
     * Ends an attempt that failed; the message can be begun again after the delay. Returns whether it has attempts left; if
     * not, it has been given up. Of the error, 2,048 characters are kept.
     */
    boolean abandon(InboxAttempt attempt, String error, Duration delay);

    /**
     * Whether the message has been processed. Of several callers one gets false, and has to process it; the others wait for
     * the outcome, at most as long as the options say, and hold no connection meanwhile. If the owner fails or is not heard of until
     * its lease runs out, one of them gets false.
     *
     * <p>Who got false marks the message with the methods that take its key, on the same thread; for other threads,
     * {@link #begin} gives an attempt that can be handed over.
     *
     * @throws DeadMessageException if it was given up, which is not the same as processed
     * @throws StillInProgressException if somebody was processing it for the whole time
     * @throws IllegalStateException inside {@code Windlass.inTransaction}, whose locks others would wait for meanwhile
     */
    boolean alreadyProcessed(String source, String messageId);

    boolean alreadyProcessed(String source, String messageId, ContentHash hash);

    /** {@link #markProcessing(InboxAttempt)} of what {@link #alreadyProcessed} gave to this thread. */
    void markProcessing(String source, String messageId);

    /** {@link #markProcessed(InboxAttempt)} of what {@link #alreadyProcessed} gave to this thread. */
    void markProcessed(String source, String messageId);

    /** {@link #markProcessed(Connection, InboxAttempt)} of what {@link #alreadyProcessed} gave to this thread. */
    void markProcessed(Connection connection, String source, String messageId);

    /** {@link #markDead(InboxAttempt, String)} of what {@link #alreadyProcessed} gave to this thread. */
    void markDead(String source, String messageId, String reason);

    /** {@link #abandon(InboxAttempt, String, Duration)} of what {@link #alreadyProcessed} gave to this thread. */
    boolean abandon(String source, String messageId, String error, Duration delay);

    /** What the inbox knows of a message, if it does. */
    Optional<SeenMessage> find(String source, String messageId);

    /** For what is done by hand to messages, to failed ones above all. The name, of at most 255 characters, is recorded. */
    InboxOperator operator(String name);

    /** The attempts of a queued message that failed, the oldest first. */
    List<FailedAttempt> failures(String source, String messageId);

    /**
     * Cancels a queued message that nobody has claimed yet. Returns whether it was; a message that is unknown, not queued, in
     * progress or ended stays as it is. The inbox knows it for as long as one that is done.
     */
    boolean cancel(String source, String messageId);

    /** The same in the caller's transaction. Until that ends, nobody can claim the message. */
    boolean cancel(Connection connection, String source, String messageId);

    /** Gives a queued message that nobody has claimed yet another due time; in the past means now. Returns whether it was changed. */
    boolean reschedule(String source, String messageId, Instant dueTime);

    /** The same in the caller's transaction. Until that ends, nobody can claim the message. */
    boolean reschedule(Connection connection, String source, String messageId, Instant dueTime);

    /**
     * Makes a queued message a step of a join. One that has ended counts at once. Returns whether it is new; a message that is not
     * queued is refused with a {@link WindlassException}.
     */
    boolean attach(JoinIdentifier join, String source, String messageId);

    /** The same in the caller's transaction. Keep that short: the lease of a message in progress is not renewed until it ends. */
    boolean attach(Connection connection, JoinIdentifier join, String source, String messageId);

    /**
     * Stores a message for the handlers of its topic, unless the inbox knows it: what is done stays done. It is committed
     * when this returns, and can be acknowledged to its sender, whatever the answer is: what somebody has begun without the
     * queue is not new, but is handled if that attempt fails or is not heard of again.
     */
    Enqueued enqueue(InboxEntry entry);

    /** Makes an entry of a typed topic, its payload encoded by the codec of this Windlass. */
    <T> InboxEntry entry(String source, String messageId, Topic<T> topic, T payload);

    /**
     * The same in the caller's transaction. Waits for others that are storing the same new message, until they commit or roll
     * back; never for who has begun, marked or locked it.
     */
    Enqueued enqueue(Connection connection, InboxEntry entry);

    /** Stores many in one round trip and one transaction of its own: all or none. Answers in the order of the entries. */
    List<Enqueued> enqueueAll(Collection<InboxEntry> entries);

    /** Stores many in one round trip, in the caller's transaction. */
    List<Enqueued> enqueueAll(Connection connection, Collection<InboxEntry> entries);

    /**
     * Ends claimed messages as done in the caller's transaction, so that the business change and their end are one. Counts only
     * what this call has ended: if that is fewer than given, roll back, since the work of the others has been done or is somebody
     * else's.
     */
    int ack(Connection connection, OwnerToken owner, Collection<InboxWorkItemIdentifier> ids);

    /**
     * {@inheritDoc}
     *
     * <p>Also what was enqueued while an attempt without the queue was going on that has failed or was not heard of again.
     */
    @Override
    int reapExpired();
}
