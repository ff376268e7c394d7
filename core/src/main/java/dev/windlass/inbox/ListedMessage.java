package dev.windlass.inbox;

import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * A message as it appears in a list: without its payload.
 *
 * @param id its work item, if it is queued
 * @param topic of queued messages only
 * @param firstSeenAt when it arrived first
 * @param at the time of its state: when a ready message is due or can be begun again, when the attempt of one in progress began,
 *     when one ended; when it was stored, if it waits for the end of another attempt, or is queued and the list is of all states
 * @param begunAt when the last attempt began
 * @param endedBy the node that ended it; none when it expired
 * @param retryCount how many attempts failed
 * @param requeues how often it was made ready again
 * @param isErased whether its payload is gone; such a message cannot be requeued
 */
public record ListedMessage(
        InboxKey key,
        Optional<InboxWorkItemIdentifier> id,
        Optional<String> topic,
        WorkStatus status,
        Instant firstSeenAt,
        Instant at,
        Optional<Instant> begunAt,
        Optional<String> endedBy,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> lastError,
        boolean isErased) {

    /** Without the error: what may go into a log. */
    @Override
    public String toString() {
        return "ListedMessage[" + key + ", status=" + status + ", at=" + at + "]";
    }
}
