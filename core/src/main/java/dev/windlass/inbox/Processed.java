package dev.windlass.inbox;

/**
 * What came of {@link Inbox#process}.
 *
 * @param contentDiffers whether the message came with another hash than at its first arrival
 */
public record Processed(Outcome outcome, boolean contentDiffers) {

    /** Only the first of these ran the work. */
    public enum Outcome {
        /** Just now: the work and the mark are committed. */
        PROCESSED,
        /** Earlier, by this or another process. */
        ALREADY_PROCESSED,
        /** Somebody is at it, or it rests after a failure: try again later. */
        IN_PROGRESS,
        /** It was given up. */
        DEAD
    }
}
