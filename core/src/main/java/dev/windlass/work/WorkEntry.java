package dev.windlass.work;

import dev.windlass.internal.queue.Ranking;
import dev.windlass.internal.support.Require;
import dev.windlass.join.JoinIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An item to be written to the work queue.
 *
 * @param queue the name of its queue, up to 255 characters: what shares a limit, and is paused together
 * @param type chooses the handler among those of the queue, up to 255 characters
 * @param payload any text, also empty; Windlass does not look into it
 * @param priority 0 to 9; those with the higher one are taken first
 * @param runAt the earliest time of the first attempt; in the past means now
 * @param delay the same as a distance from the database's now; give one of the two
 * @param expiresAt after this time the item is not taken any more, and fails
 * @param key items with keys are taken in turn, one of each key after the other; a queue can limit how many of one key run at once. Up
 *     to 255 characters, for example a customer
 * @param unique lets the item be written only if no other with the same unique key is there, or in its place
 * @param correlationId leads back to what caused the item, up to 255 characters; empty means none
 * @param headers small texts beside the payload, such as a trace context
 * @param join the item is a step of this join; if another stands under its unique key, that one is
 */
public record WorkEntry(
        String queue,
        String type,
        String payload,
        int priority,
        @Nullable Instant runAt,
        @Nullable Duration delay,
        @Nullable Instant expiresAt,
        @Nullable String key,
        @Nullable Unique unique,
        @Nullable String correlationId,
        Map<String, String> headers,
        @Nullable JoinIdentifier join) {

    public static final int MAX_NAME = 255;
    private static final int HIGHEST = 9;

    /**
     * One item for each unique key of a queue that has not ended.
     *
     * @param key up to 255 characters
     * @param replaces whether this one takes the place of one that is still queued, which is cancelled then
     */
    public record Unique(String key, boolean replaces) {
        public Unique {
            Require.name("unique key", key, MAX_NAME);
        }
    }

    public WorkEntry {
        Require.name("queue", queue, MAX_NAME);
        Require.name("type", type, MAX_NAME);
        Require.storable("payload", payload);
        if (priority < 0 || priority > HIGHEST) {
            throw new IllegalArgumentException("expected a priority from 0 to 9, got " + priority);
        }
        if (runAt != null) {
            Require.instant("time to run", runAt);
        }
        if (delay != null) {
            Require.notNegative("delay", delay);
        }
        if (runAt != null && delay != null) {
            throw new IllegalArgumentException("expected a time to run or a delay, got both");
        }
        if (expiresAt != null) {
            Require.instant("expiry", expiresAt);
        }
        if (runAt != null && expiresAt != null && !expiresAt.isAfter(runAt)) {
            throw new IllegalArgumentException(
                    "expected an item that expires after it can run, got one that can run at " + runAt
                            + " and expires at " + expiresAt);
        }
        if (key != null) {
            Require.name("key", key, MAX_NAME);
        }
        correlationId = correlationId == null || correlationId.isEmpty()
                ? null
                : Require.optionalText("correlation id", correlationId, MAX_NAME);
        headers = Require.headers(headers);
    }

    public static WorkEntry of(String queue, String type, String payload) {
        return new WorkEntry(queue, type, payload, Ranking.NORMAL, null, null, null, null, null, null, Map.of(), null);
    }

    public WorkEntry withPriority(int priority) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, delay, expiresAt, key, unique, correlationId, headers, join);
    }

    public WorkEntry withRunAt(@Nullable Instant runAt) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, null, expiresAt, key, unique, correlationId, headers, join);
    }

    public WorkEntry withDelay(@Nullable Duration delay) {
        return new WorkEntry(
                queue, type, payload, priority, null, delay, expiresAt, key, unique, correlationId, headers, join);
    }

    public WorkEntry withExpiresAt(@Nullable Instant expiresAt) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, delay, expiresAt, key, unique, correlationId, headers, join);
    }

    public WorkEntry withKey(@Nullable String key) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, delay, expiresAt, key, unique, correlationId, headers, join);
    }

    /** If there is an item of this queue with this unique key that has not ended, it stays, and nothing is written. */
    public WorkEntry ifAbsent(String uniqueKey) {
        return with(new Unique(uniqueKey, false));
    }

    /**
     * If there is an item of this queue with this unique key that is still queued, it is cancelled, and this one takes its place. One that
     * is running goes on, and this one is queued beside it.
     */
    public WorkEntry replacing(String uniqueKey) {
        return with(new Unique(uniqueKey, true));
    }

    private WorkEntry with(Unique once) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, delay, expiresAt, key, once, correlationId, headers, join);
    }

    public WorkEntry withCorrelationId(@Nullable String correlationId) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, delay, expiresAt, key, unique, correlationId, headers, join);
    }

    public WorkEntry withHeaders(Map<String, String> headers) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, delay, expiresAt, key, unique, correlationId, headers, join);
    }

    /** Makes the item a step of a join, in the transaction that writes it. */
    public WorkEntry withJoin(@Nullable JoinIdentifier join) {
        return new WorkEntry(
                queue, type, payload, priority, runAt, delay, expiresAt, key, unique, correlationId, headers, join);
    }

    /** Without payload and headers: what may go into a log. */
    @Override
    public String toString() {
        return "WorkEntry[queue=" + queue + ", type=" + type + ", priority=" + priority + ", correlationId="
                + correlationId + "]";
    }
}
