package dev.windlass.inbox;

import java.time.Duration;

/** What the inbox says to who wants to process a message. */
public sealed interface Begin {

    /** Whether the message came with another hash than at its first arrival. */
    boolean contentDiffers();

    /** It is the caller's to process, until the lease runs out. */
    record Proceed(InboxAttempt attempt, boolean contentDiffers) implements Begin {}

    /**
     * Not now: somebody is processing it, or it waits in the queue, or rests after a failed attempt.
     *
     * @param remaining until the lease or the rest ends, if nothing happens before; zero when that is not known
     */
    record InProgress(Duration remaining, boolean contentDiffers) implements Begin {}

    /** It has been processed. */
    record Done(boolean contentDiffers) implements Begin {}

    /** It was given up, and stays so until an operator requeues it. */
    record Dead(boolean contentDiffers) implements Begin {}
}
