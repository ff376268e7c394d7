package dev.windlass.schedule;

/** Where a run of a job is. */
public enum JobRunStatus {
    /** Nobody handles it yet, or until its next attempt. */
    READY,
    IN_PROGRESS,
    SUCCEEDED,
    /** For good; if it became a message, that can be requeued, and then the run goes on. */
    FAILED,
    /** Before anybody began with it: its message was cancelled, or its job deleted. */
    CANCELLED
}
