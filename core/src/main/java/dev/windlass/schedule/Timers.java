package dev.windlass.schedule;

import dev.windlass.base.Claims;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Writes timers, alone or in the caller's transaction. A timer that is due becomes a message of the outbox, with the same
 * identifier, for the handler of its topic.
 *
 * <p>Thread-safe. Methods with a {@link Connection} take part in the caller's transaction, and never commit, roll back or close
 * it; one with auto-commit on is refused with an {@link IllegalStateException}. The others join the transaction of
 * {@code inTransaction} if this thread is in one, or have one of their own, and repeat it after a deadlock or a lost connection.
 * Bad arguments are refused with an {@link IllegalArgumentException} before any SQL; what the database refuses arrives as
 * {@link WindlassException}.
 *
 * <p>Programs can claim due timers themselves: only where no node hands timers to the outbox ({@link ScheduleOptions#handOff}),
 * since others would take them first. A timer that is acked is gone.
 */
public interface Timers extends Claims<Timer, TimerIdentifier> {

    /**
     * Writes a timer in a transaction of its own; it is committed when this returns.
     *
     * @return the timer that stands: this one, or the one that already had its key
     */
    TimerIdentifier schedule(TimerEntry entry);

    /** Writes a timer in the caller's transaction: it exists if and when the caller commits. */
    TimerIdentifier schedule(Connection connection, TimerEntry entry);

    /** Writes many timers in one round trip and one transaction of its own: all or none. */
    List<TimerIdentifier> scheduleAll(Collection<TimerEntry> entries);

    /** Writes many timers in one round trip, in the caller's transaction. */
    List<TimerIdentifier> scheduleAll(Connection connection, Collection<TimerEntry> entries);

    /** Makes an entry of an object, encoded by the codec of this Windlass. */
    <T> TimerEntry entry(Topic<T> topic, T payload, Duration delay);

    /** The same for a point in time. */
    <T> TimerEntry entry(Topic<T> topic, T payload, Instant dueTime);

    /**
     * Cancels a timer that nobody has claimed yet. If this returns true, it is never delivered; if false, it was done, being
     * handled, failed, cancelled before, or never there.
     *
     * @throws WindlassException also if the connection was lost just then, and it cannot be told which of these is so
     */
    boolean cancel(TimerIdentifier id);

    /** The same in the caller's transaction. Until that ends, the timer does not fire. */
    boolean cancel(Connection connection, TimerIdentifier id);

    /** Cancels the timer of a topic that has this key. */
    boolean cancel(String topic, String key);

    /** The same in the caller's transaction. */
    boolean cancel(Connection connection, String topic, String key);

    /**
     * Gives a timer that nobody has claimed yet another due time; in the past means now. Returns whether it was changed. One that
     * failed is requeued by an {@link #operator}.
     */
    boolean reschedule(TimerIdentifier id, Instant dueTime);

    /** The same as a distance from the database's now. */
    boolean reschedule(TimerIdentifier id, Duration delay);

    /** The same in the caller's transaction. Until that ends, the timer does not fire. */
    boolean reschedule(Connection connection, TimerIdentifier id, Instant dueTime);

    boolean reschedule(Connection connection, TimerIdentifier id, Duration delay);

    /** The timer, if it is not done or cancelled. One that is done is {@code outbox().find} of its message. */
    Optional<Timer> find(TimerIdentifier id);

    /** The timer of a topic that has this key. */
    Optional<Timer> find(String topic, String key);

    /** The attempts of a timer that failed, the oldest first, where programs claim timers themselves. */
    List<FailedAttempt> failures(TimerIdentifier id);

    /** Lists, failed timers, pauses: what is done by hand, and recorded with a name of at most 255 characters. */
    TimerOperator operator(String name);
}
