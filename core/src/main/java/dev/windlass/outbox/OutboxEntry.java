package dev.windlass.outbox;

import dev.windlass.internal.support.Require;
import dev.windlass.join.JoinIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message to be written.
 *
 * @param topic chooses the handler; case-sensitive, up to 255 characters
 * @param payload any text, also empty; Windlass does not look into it
 * @param correlationId leads back to what caused the message, up to 255 characters; empty means none
 * @param headers small texts beside the payload, such as a trace context
 * @param dueTime the earliest time of the first attempt; in the past means now
 * @param delay the same as a distance from the database's now; give one of the two
 * @param expiresAt after this time the message is not claimed any more, and fails
 * @param orderingKey messages with the same key are handled one after another, in the order in which they were written, over
 *     all topics; up to 255 characters. Whoever writes to a key waits for others who do, until they commit
 * @param deduplication lets the message be written only if no other was under the same key
 * @param join the message is a step of this join; if another was first under its deduplication key, that one is
 */
public record OutboxEntry(
        String topic,
        String payload,
        @Nullable String correlationId,
        Map<String, String> headers,
        @Nullable Instant dueTime,
        @Nullable Duration delay,
        @Nullable Instant expiresAt,
        @Nullable String orderingKey,
        @Nullable Deduplication deduplication,
        @Nullable JoinIdentifier join) {

    static final int MAX_TOPIC = 255;
    private static final int MAX_CORRELATION_ID = 255;
    private static final int MAX_KEY = 255;

    /**
     * One message for each key of a topic within the window, which begins with the first.
     *
     * @param key up to 255 characters, for example the number of an order
     * @param window for how long the key is remembered, whatever becomes of the message
     */
    public record Deduplication(String key, Duration window) {
        public Deduplication {
            Require.name("deduplication key", key, MAX_KEY);
            Require.positive("deduplication window", window);
        }
    }

    public OutboxEntry {
        Require.name("topic", topic, MAX_TOPIC);
        Require.storable("payload", payload);
        correlationId = correlationId == null || correlationId.isEmpty()
                ? null
                : Require.optionalText("correlation id", correlationId, MAX_CORRELATION_ID);
        headers = Require.headers(headers);
        if (dueTime != null) {
            Require.instant("due time", dueTime);
        }
        if (delay != null) {
            Require.notNegative("delay", delay);
        }
        if (expiresAt != null) {
            Require.instant("expiry", expiresAt);
        }
        if (orderingKey != null) {
            Require.name("ordering key", orderingKey, MAX_KEY);
        }
        if (dueTime != null && delay != null) {
            throw new IllegalArgumentException("expected a due time or a delay, got both");
        }
        if (dueTime != null && expiresAt != null && !expiresAt.isAfter(dueTime)) {
            throw new IllegalArgumentException(
                    "expected a message that expires after it is due, got one that is due at " + dueTime
                            + " and expires at " + expiresAt);
        }
    }

    public static OutboxEntry of(String topic, String payload) {
        return new OutboxEntry(topic, payload, null, Map.of(), null, null, null, null, null, null);
    }

    public OutboxEntry withCorrelationId(@Nullable String correlationId) {
        return new OutboxEntry(
                topic, payload, correlationId, headers, dueTime, delay, expiresAt, orderingKey, deduplication, join);
    }

    public OutboxEntry withHeaders(Map<String, String> headers) {
        return new OutboxEntry(
                topic, payload, correlationId, headers, dueTime, delay, expiresAt, orderingKey, deduplication, join);
    }

    public OutboxEntry withDueTime(@Nullable Instant dueTime) {
        return new OutboxEntry(
                topic, payload, correlationId, headers, dueTime, null, expiresAt, orderingKey, deduplication, join);
    }

    public OutboxEntry withDelay(@Nullable Duration delay) {
        return new OutboxEntry(
                topic, payload, correlationId, headers, null, delay, expiresAt, orderingKey, deduplication, join);
    }

    public OutboxEntry withExpiresAt(@Nullable Instant expiresAt) {
        return new OutboxEntry(
                topic, payload, correlationId, headers, dueTime, delay, expiresAt, orderingKey, deduplication, join);
    }

    public OutboxEntry withOrderingKey(@Nullable String orderingKey) {
        return new OutboxEntry(
                topic, payload, correlationId, headers, dueTime, delay, expiresAt, orderingKey, deduplication, join);
    }

    /** Writes the message only if none of its topic was written under this key within the window. */
    public OutboxEntry withDeduplication(String key, Duration window) {
        return new OutboxEntry(
                topic,
                payload,
                correlationId,
                headers,
                dueTime,
                delay,
                expiresAt,
                orderingKey,
                new Deduplication(key, window),
                join);
    }

    /** Makes the message a step of a join, in the transaction that writes it. */
    public OutboxEntry withJoin(@Nullable JoinIdentifier join) {
        return new OutboxEntry(
                topic, payload, correlationId, headers, dueTime, delay, expiresAt, orderingKey, deduplication, join);
    }

    /** Without payload and headers: what may go into a log. */
    @Override
    public String toString() {
        return "OutboxEntry[topic=" + topic + ", correlationId=" + correlationId + "]";
    }
}
