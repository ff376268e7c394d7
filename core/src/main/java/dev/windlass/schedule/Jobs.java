package dev.windlass.schedule;

import dev.windlass.base.Claims;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Keeps jobs, which run again and again. At each tick of a job one run is made, on whatever number of nodes, and becomes a message
 * of the outbox for the handler of the job's topic; the run ends as its message does.
 *
 * <p>Thread-safe. Methods with a {@link Connection} take part in the caller's transaction, and never commit, roll back or close
 * it; one with auto-commit on is refused with an {@link IllegalStateException}. The others join the transaction of
 * {@code inTransaction} if this thread is in one, or have one of their own, and repeat it after a deadlock or a lost connection.
 * Bad
 * arguments are refused with an {@link IllegalArgumentException} before any SQL; what the database refuses arrives as
 * {@link WindlassException}.
 */
public interface Jobs {

    /**
     * Creates a job, or changes the one of this name. If its times are the same as before, its ticks go on as before; else the
     * next one is computed from now on. A paused job stays paused.
     */
    void save(Job job);

    /** The same in the caller's transaction. Until that ends, the job makes no runs. */
    void save(Connection connection, Job job);

    /**
     * Deletes a job, with the runs that nobody has begun to handle. Others go on, and its history stays known for a while.
     *
     * @throws UnknownJobException if there is none of this name
     */
    void delete(String name);

    /** The same in the caller's transaction. */
    void delete(Connection connection, String name);

    /**
     * Makes a run now, also of a paused job. Its ticks are not touched.
     *
     * @throws UnknownJobException if there is no job of this name
     * @throws UnfinishedRunException if a run of the job is unfinished, and it allows no overlap
     */
    JobRun trigger(String name);

    /** The same in the caller's transaction: the run exists if and when the caller commits. Until then, the job makes no others. */
    JobRun trigger(Connection connection, String name);

    /**
     * Lets a job rest: its ticks pass, and make no runs, until it is resumed. Returns whether it did not rest before.
     *
     * @throws UnknownJobException if there is none of this name
     */
    boolean pause(String name);

    /**
     * Lets a paused job go on with its next tick from now; those of the pause count as neither missed nor skipped. Returns
     * whether it was paused.
     *
     * @throws UnknownJobException if there is none of this name
     */
    boolean resume(String name);

    Optional<JobState> find(String name);

    /** All jobs, by name. */
    List<JobState> list();

    /** A run as it is now, until it is cleaned up. */
    Optional<JobRun> findRun(JobRunIdentifier id);

    /** The runs of a job, the latest first, {@code limit} at most; also of one that was deleted. */
    Page<JobRun> runs(String name, int limit);

    /** The page that begins after this position. */
    Page<JobRun> runs(String name, int limit, PagePosition after);

    /**
     * Cancels a run that nobody has begun to handle, also as the message it became. Returns whether it was; a run that is unknown,
     * in progress or ended stays as it is.
     */
    boolean cancelRun(JobRunIdentifier id);

    /** The same in the caller's transaction. Until that ends, nobody can begin the run. */
    boolean cancelRun(Connection connection, JobRunIdentifier id);

    /**
     * Lets a run that nobody has begun to handle begin at another time, also as the message it became; in the past means now. Its tick
     * stays. Returns whether it was changed.
     */
    boolean rescheduleRun(JobRunIdentifier id, Instant dueTime);

    /** The same in the caller's transaction. Until that ends, nobody can begin the run. */
    boolean rescheduleRun(Connection connection, JobRunIdentifier id, Instant dueTime);

    /**
     * The attempts of a run that failed, the oldest first, where programs claim runs themselves. Those of a run that was handed off
     * are the failures of its message.
     */
    List<FailedAttempt> failures(JobRunIdentifier id);

    /**
     * Writes down what came of a run, for people: up to 8,192 characters of it. For the handler of the run, before it ends; a later
     * one replaces it. Returns whether the run was there and had not ended.
     *
     * <pre>{@code
     * jobs.recordOutput(JobRunIdentifier.of(message), "412 invoices sent");
     * }</pre>
     */
    boolean recordOutput(JobRunIdentifier id, String output);

    /** The same in the caller's transaction. */
    boolean recordOutput(Connection connection, JobRunIdentifier id, String output);

    /** The same job with a typed topic, and a payload that is encoded by the codec of this Windlass. */
    <T> Job job(Job job, Topic<T> topic, T payload);

    /** Failed runs, pauses, jobs: what is done by hand, and recorded with a name of at most 255 characters. */
    JobOperator operator(String name);

    /**
     * The runs that are ready, for programs that handle them themselves: only where no node hands runs to the outbox
     * ({@link ScheduleOptions#handOff}), since others would take them first.
     */
    Claims<ClaimedJobRun, JobRunIdentifier> runClaims();
}
