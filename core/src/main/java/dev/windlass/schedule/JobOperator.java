package dev.windlass.schedule;

import dev.windlass.operator.Operator;

/**
 * What an operator does to runs, and to jobs.
 *
 * <p>A failed run that was handed off is requeued together with its message; if that has been purged, the run stays as it is. Only
 * runs that are not handed off have states of their own until they end: those that are ready or in progress as messages are found
 * there, with the source {@code job}. The source of a run is the name of its job.
 *
 * <p>A pause of a topic is for programs that claim runs themselves. Nodes hand runs of it off all the same; to hold the messages
 * back, pause the topic of the outbox.
 */
public interface JobOperator extends Operator<JobRunIdentifier, JobRun> {

    /** {@link Jobs#pause}, recorded. */
    boolean pauseJob(String name);

    /** {@link Jobs#resume}, recorded. */
    boolean resumeJob(String name);

    /** {@link Jobs#delete}, recorded with the number of runs it took along. */
    void deleteJob(String name);

    /** {@link Jobs#trigger}, recorded. */
    JobRun triggerJob(String name);
}
