package dev.windlass.schedule;

import dev.windlass.OwnerToken;
import dev.windlass.Topic;
import dev.windlass.WindlassException;
import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
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
    List<JobRun> runs(String name, int limit);

    /** The page that follows the one that ended with {@code last}. */
    List<JobRun> runs(String name, int limit, JobRun last);

    /**
     * The attempts of a run that failed, the oldest first, where programs claim runs themselves. Those of a run that was handed over
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
     * Takes up to {@code batchSize} ready runs, of whatever topic is not paused, the oldest of each first, for programs that handle
     * runs themselves.
     *
     * <p>Only where no node hands runs to the outbox ({@link ScheduleOptions#handOff}): others would take them first. Nobody
     * else gets them until the lease has run out. Take a fresh token for each claim.
     *
     * <p>If this call fails, it may have taken some all the same: call {@link #releaseRuns(OwnerToken)}.
     */
    List<ClaimedJobRun> claimRuns(OwnerToken owner, Duration lease, int batchSize);

    /** Ends runs as done. Runs that this owner does not hold are ignored. Returns how many it held. */
    int ackRuns(OwnerToken owner, Collection<JobRunIdentifier> ids);

    /**
     * Returns runs after a failed attempt; they can be claimed again after min(2<sup>retryCount</sup> s, 60 s). Returns how many
     * this owner held.
     */
    int abandonRuns(OwnerToken owner, Collection<JobRunIdentifier> ids);

    /** The same, with a pause and an error text to remember, of which 2,048 characters are kept. */
    int abandonRuns(OwnerToken owner, Collection<JobRunIdentifier> ids, Duration delay, String error);

    /** Returns runs that were not tried; they can be claimed again at once. Returns how many this owner held. */
    int releaseRuns(OwnerToken owner, Collection<JobRunIdentifier> ids);

    /**
     * Returns all runs that this owner holds to ready at once, without a counted attempt: for when {@link #claimRuns} has failed,
     * and may have taken some all the same. Returns how many. If the answer of the claim is still on its way, it may be none;
     * call it again a little later.
     */
    int releaseRuns(OwnerToken owner);

    /** Renews the lease, from the database's now. Returns how many this owner holds still; stop working on the others. */
    int heartbeatRuns(OwnerToken owner, Collection<JobRunIdentifier> ids, Duration lease);

    /** Ends runs as failed, with the reason, of which 2,048 characters are kept. Returns how many this owner held. */
    int failRuns(OwnerToken owner, Collection<JobRunIdentifier> ids, String error);

    /** The same without a text: what is known of an earlier attempt stays. */
    int failRuns(OwnerToken owner, Collection<JobRunIdentifier> ids);

    /**
     * Returns runs whose lease ran out. Returns how many. Nodes with background work do this by themselves. Nothing is reaped in
     * the first lease period after the database server started.
     */
    int reapExpiredRuns();
}
