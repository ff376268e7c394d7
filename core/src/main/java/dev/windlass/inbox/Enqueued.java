package dev.windlass.inbox;

/**
 * What came of an enqueue.
 *
 * @param isNew whether the message is in the queue because of this call; if not, the inbox knew it
 * @param contentDiffers whether it came with another hash than at its first arrival
 */
public record Enqueued(boolean isNew, boolean contentDiffers) {}
