package dev.windlass.outbox;

import java.time.Instant;
import java.util.Optional;

/**
 * A failed message, as it appears in a list: without its payload.
 *
 * @param blocksKey whether others of its ordering key wait until it is requeued, purged or skipped
 * @param failedAt when it was given up
 * @param failedOn the node that gave it up; none when it expired
 * @param retryCount how many attempts failed before the last
 * @param requeues how often it had been made ready again before
 * @param isErased whether its payload is gone; such a message cannot be requeued
 */
public record DeadLetter(
        OutboxMessageIdentifier id,
        String topic,
        Optional<String> correlationId,
        Optional<String> orderingKey,
        boolean blocksKey,
        Instant createdAt,
        Instant failedAt,
        Optional<String> failedOn,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> error,
        boolean isErased) {

    /** Without the error: what may go into a log. */
    @Override
    public String toString() {
        return "DeadLetter[" + id.value() + ", topic=" + topic + ", failedAt=" + failedAt + "]";
    }
}
