package dev.windlass.outbox;

import java.time.Instant;
import java.util.Optional;

/**
 * A message as it appears in a list: without its payload.
 *
 * @param orderingSequence its place in the order of its key: the smaller comes first
 * @param at the time of its state: when a ready message is due, when the attempt of one in progress began, when one ended; when it
 *     was created, if it waits behind another, or if the list is of all states
 * @param endedBy the node that ended it
 * @param retryCount how many attempts failed
 * @param requeues how often it was made ready again
 */
public record ListedMessage(
        OutboxMessageIdentifier id,
        String topic,
        OutboxStatus status,
        Optional<String> correlationId,
        Optional<String> orderingKey,
        Optional<Long> orderingSequence,
        Instant createdAt,
        Instant at,
        Optional<String> endedBy,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> lastError) {

    /** Without the error: what may go into a log. */
    @Override
    public String toString() {
        return "ListedMessage[" + id + ", topic=" + topic + ", status=" + status + ", at=" + at + "]";
    }
}
