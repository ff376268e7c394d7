package dev.windlass.outbox;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A message as it is stored.
 *
 * @param id the work item, for ack, abandon and fail
 * @param createdAt when it was written, by the database's clock
 * @param retryCount how many attempts have failed so far
 * @param leaseExpiries how often its lease ran out
 * @param lastError why the last failed attempt failed
 * @param processedAt when it was acknowledged
 * @param processedBy the node that ended it
 * @param dueTime the earliest time of its first attempt, as it was written
 */
public record OutboxMessage(
        OutboxWorkItemIdentifier id,
        String topic,
        String payload,
        Map<String, String> headers,
        Optional<String> correlationId,
        Instant createdAt,
        Optional<Instant> dueTime,
        Optional<Instant> expiresAt,
        OutboxStatus status,
        int retryCount,
        int leaseExpiries,
        Optional<String> lastError,
        Optional<Instant> processedAt,
        Optional<String> processedBy) {

    /** The message's name for good, over all its attempts: the key for idempotency. */
    public OutboxMessageIdentifier messageId() {
        return new OutboxMessageIdentifier(id.value());
    }

    public boolean isProcessed() {
        return status == OutboxStatus.DONE;
    }

    /** Without payload, headers and error: what may go into a log. */
    @Override
    public String toString() {
        return "OutboxMessage[" + id.value() + ", topic=" + topic + ", status=" + status + "]";
    }
}
