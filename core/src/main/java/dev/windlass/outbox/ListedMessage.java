package dev.windlass.outbox;

import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * A message as it appears in a list: without its payload.
 *
 * @param source {@code timer} or {@code job}, if it came from one
 * @param orderingSequence its place in the order of its key: the smaller comes first
 * @param blocksKey whether it failed, and others of its ordering key wait until it is requeued, purged or skipped
 * @param at the time of its state: when a ready message is due, when the attempt of one in progress began, when one ended; when it
 *     was created, if it waits behind another, or if the list is of all states
 * @param endedBy the node that ended it; none when it expired
 * @param retryCount how many attempts failed, the last of a failed message left out
 * @param requeues how often it was made ready again
 * @param isErased whether its payload is gone; such a message cannot be requeued
 */
public record ListedMessage(
        OutboxMessageIdentifier id,
        String topic,
        Optional<String> source,
        WorkStatus status,
        Optional<String> correlationId,
        Optional<String> orderingKey,
        Optional<Long> orderingSequence,
        boolean blocksKey,
        Instant createdAt,
        Instant at,
        Optional<String> endedBy,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> lastError,
        boolean isErased) {

    /** Without the error: what may go into a log. */
    @Override
    public String toString() {
        return "ListedMessage[" + id + ", topic=" + topic + ", status=" + status + ", at=" + at + "]";
    }
}
