package dev.windlass.outbox;

import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A message as it is stored.
 *
 * @param id the work item, for ack, abandon and fail
 * @param payload empty after it was erased
 * @param orderingKey messages with the same key are handled one after another
 * @param createdAt when it was written, by the database's clock
 * @param dueTime the earliest time of its first attempt, as it was written
 * @param retryCount how many attempts have failed so far, since it was requeued perhaps
 * @param leaseExpiries how often its lease ran out
 * @param requeues how often it was made ready again after it had failed
 * @param lastError why the last failed attempt failed
 * @param endedAt when it was acknowledged, failed or cancelled
 * @param processedBy the node that ended it
 * @param erasedAt when its payload and headers were erased
 */
public record OutboxMessage(
        OutboxWorkItemIdentifier id,
        String topic,
        String payload,
        Map<String, String> headers,
        Optional<String> correlationId,
        Optional<String> orderingKey,
        Instant createdAt,
        Optional<Instant> dueTime,
        Optional<Instant> expiresAt,
        WorkStatus status,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> lastError,
        Optional<Instant> endedAt,
        Optional<String> processedBy,
        Optional<Instant> erasedAt) {

    /** The message's name for good, over all its attempts: the key for idempotency. */
    public OutboxMessageIdentifier messageId() {
        return new OutboxMessageIdentifier(id.value());
    }

    public boolean isProcessed() {
        return status == WorkStatus.DONE;
    }

    /** When it was acknowledged. */
    public Optional<Instant> processedAt() {
        return isProcessed() ? endedAt : Optional.empty();
    }

    /** Without payload, headers and error: what may go into a log. */
    @Override
    public String toString() {
        return "OutboxMessage[" + id.value() + ", topic=" + topic + ", status=" + status + "]";
    }
}
