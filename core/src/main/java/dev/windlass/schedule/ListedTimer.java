package dev.windlass.schedule;

import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * A timer as it appears in a list: without its payload.
 *
 * @param dueTime as it was written
 * @param at the time of its state: when a ready timer can be claimed or handed off, when the attempt of one in progress began, when
 *     one failed; when it was created, if the list is of all states
 * @param retryCount how many attempts failed, the last of a failed timer left out
 * @param requeues how often it was made ready again
 * @param isErased whether its payload is gone; such a timer cannot be requeued
 */
public record ListedTimer(
        TimerIdentifier id,
        String topic,
        WorkStatus status,
        Optional<String> key,
        Optional<String> correlationId,
        Instant createdAt,
        Instant dueTime,
        Instant at,
        int retryCount,
        int leaseExpiries,
        int requeues,
        Optional<String> lastError,
        boolean isErased) {

    /** Without the error: what may go into a log. */
    @Override
    public String toString() {
        return "ListedTimer[" + id + ", topic=" + topic + ", status=" + status + ", due=" + dueTime + "]";
    }
}
