package dev.windlass.schedule;

import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A timer as it is stored.
 *
 * @param key what no other timer of the topic has
 * @param dueTime as it was written
 * @param nextAttempt when it can be claimed; later than the due time after a failed attempt
 * @param status ready; in progress, while a program is handling it that claims timers itself; or failed, until an operator requeues
 *     or purges it
 * @param retryCount how many attempts have failed so far
 * @param leaseExpiries how often its lease ran out
 * @param lastError why the last failed attempt failed
 */
public record Timer(
        TimerIdentifier id,
        String topic,
        String payload,
        Map<String, String> headers,
        Optional<String> key,
        Optional<String> correlationId,
        Instant createdAt,
        Instant dueTime,
        Instant nextAttempt,
        WorkStatus status,
        int retryCount,
        int leaseExpiries,
        Optional<String> lastError) {

    /** Without payload, headers and error: what may go into a log. */
    @Override
    public String toString() {
        return "Timer[" + id.value() + ", topic=" + topic + ", due=" + dueTime + "]";
    }
}
