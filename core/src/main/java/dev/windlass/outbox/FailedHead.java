package dev.windlass.outbox;

/** What becomes of the messages that wait behind a failed one of the same ordering key. */
public enum FailedHead {
    /** They wait until it is requeued, purged or skipped: nothing is ever handled out of order. */
    BLOCKS,
    /** They go on without it. */
    IS_SKIPPED
}
