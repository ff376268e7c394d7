package dev.windlass.work;

import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An item of the work queue as it appears in a list: without its payload and its result.
 *
 * @param at the time of its state: when a ready item can be taken, when the attempt of one in progress began, when one ended; when it
 *     was created, if the list is of all states
 * @param retryCount how many attempts failed, the last of a failed item left out
 * @param requeues how often it was made ready again
 * @param isErased whether its payload is gone; such an item cannot be requeued
 */
public record ListedWork(
        WorkIdentifier id,
        String queue,
        String type,
        WorkStatus status,
        int priority,
        Optional<String> key,
        Optional<String> uniqueKey,
        Optional<String> correlationId,
        Instant createdAt,
        Instant at,
        Optional<String> processedBy,
        int retryCount,
        int leaseExpiries,
        int requeues,
        OptionalInt progress,
        Optional<String> progressText,
        Optional<String> lastError,
        boolean isErased) {

    /** Without the texts: what may go into a log. */
    @Override
    public String toString() {
        return "ListedWork[" + id + ", queue=" + queue + ", type=" + type + ", status=" + status + "]";
    }
}
