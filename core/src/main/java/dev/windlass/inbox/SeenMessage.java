package dev.windlass.inbox;

import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * What the inbox knows of a message.
 *
 * @param topic of queued messages only
 * @param payload of queued messages only
 * @param begunAt when the last attempt began
 * @param leaseUntil while it is in progress
 * @param endedAt when it was processed, cancelled or given up; unknown if its row in the queue is gone
 * @param retryCount how many attempts have failed, since it was requeued perhaps
 * @param leaseExpiries how many attempts nobody heard of again
 * @param requeues how often it was made ready again after it had failed
 * @param processedBy the node that ended it
 * @param lastError why the last failed attempt failed
 */
public record SeenMessage(
        InboxKey key,
        WorkStatus status,
        Optional<String> topic,
        Optional<String> payload,
        Optional<ContentHash> hash,
        Instant firstSeenAt,
        Instant lastSeenAt,
        Optional<Instant> begunAt,
        Optional<Instant> leaseUntil,
        Optional<Instant> endedAt,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> processedBy,
        Optional<String> lastError) {

    public boolean isProcessed() {
        return status == WorkStatus.DONE;
    }

    /** Without payload and error: what may go into a log. */
    @Override
    public String toString() {
        return "SeenMessage[" + key + ", status=" + status + "]";
    }
}
