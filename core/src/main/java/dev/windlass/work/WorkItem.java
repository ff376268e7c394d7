package dev.windlass.work;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An item of the work queue, as it was when it was claimed or read.
 *
 * @param status ready is queued, in progress is running, done is completed
 * @param runAt when it can be taken, or could
 * @param claimedBy whose it is while it runs, or who ended it
 * @param leaseExpiresAt until when it is theirs, unless they renew
 * @param startedAt when the attempt began that is going on, or was the last
 * @param retryCount how many attempts failed, the last of a failed item left out
 * @param leaseExpiries how often its lease ran out
 * @param progress how far its handler has come, from 0 to 100, if it told
 * @param result what it came to, if its handler told
 * @param cancelAskedAt when somebody wanted it to stop while it was running
 */
public record WorkItem(
        WorkIdentifier id,
        String queue,
        String type,
        String payload,
        Map<String, String> headers,
        Optional<String> correlationId,
        Optional<String> key,
        Optional<String> uniqueKey,
        int priority,
        WorkStatus status,
        Instant createdAt,
        Instant runAt,
        Optional<Instant> expiresAt,
        Optional<OwnerToken> claimedBy,
        Optional<Instant> leaseExpiresAt,
        Optional<Instant> startedAt,
        Optional<Instant> endedAt,
        Optional<Instant> cancelAskedAt,
        int retryCount,
        int leaseExpiries,
        int requeues,
        OptionalInt progress,
        Optional<String> progressText,
        Optional<String> result,
        Optional<String> lastError) {

    /** Whether it is done, failed or cancelled. */
    public boolean hasEnded() {
        return endedAt.isPresent();
    }

    /** When it last changed, renewals left out. */
    public Instant updatedAt() {
        Instant last = createdAt;
        for (Optional<Instant> each : java.util.List.of(startedAt, cancelAskedAt, endedAt)) {
            last = each.isPresent() && each.get().isAfter(last) ? each.get() : last;
        }
        return last;
    }

    /** Without its content: what may go into a log. */
    @Override
    public String toString() {
        return "WorkItem[" + id + ", queue=" + queue + ", type=" + type + ", status=" + status + "]";
    }
}
