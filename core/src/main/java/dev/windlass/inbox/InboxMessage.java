package dev.windlass.inbox;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A queued message that was claimed.
 *
 * @param id the work item, for ack, abandon and fail
 * @param firstSeenAt when it was written, by the database's clock
 * @param dueTime the earliest time of its first attempt, as it was written
 * @param expiresAt after this time nobody would handle it
 * @param retryCount how many attempts have failed so far, since it was requeued perhaps
 * @param leaseExpiries how often its lease ran out
 * @param requeues how often it was made ready again after it had failed
 * @param lastError why the last failed attempt failed
 */
public record InboxMessage(
        InboxWorkItemIdentifier id,
        InboxKey key,
        String topic,
        String payload,
        Map<String, String> headers,
        Instant firstSeenAt,
        Optional<Instant> dueTime,
        Optional<Instant> expiresAt,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> lastError) {

    /** Without payload, headers and error: what may go into a log. */
    @Override
    public String toString() {
        return "InboxMessage[" + key + ", topic=" + topic + "]";
    }
}
