package dev.windlass.outbox;

import dev.windlass.runtime.Require;
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
 */
public record OutboxEntry(
        String topic,
        String payload,
        @Nullable String correlationId,
        Map<String, String> headers,
        @Nullable Instant dueTime,
        @Nullable Duration delay,
        @Nullable Instant expiresAt) {

    static final int MAX_TOPIC = 255;
    private static final int MAX_CORRELATION_ID = 255;

    public OutboxEntry {
        Require.text("topic", topic, MAX_TOPIC);
        Require.storable("payload", payload);
        correlationId = correlationId == null || correlationId.isEmpty()
                ? null
                : Require.optionalText("correlation id", correlationId, MAX_CORRELATION_ID);
        Require.present("map of headers", headers).forEach((name, value) -> {
            Require.text("header name", name, 255);
            Require.storable("header value", value);
        });
        headers = Map.copyOf(headers);
        if (dueTime != null) {
            Require.instant("due time", dueTime);
        }
        if (delay != null) {
            Require.notNegative("delay", delay);
        }
        if (expiresAt != null) {
            Require.instant("expiry", expiresAt);
        }
        if (dueTime != null && delay != null) {
            throw new IllegalArgumentException("expected a due time or a delay, got both");
        }
    }

    public static OutboxEntry of(String topic, String payload) {
        return new OutboxEntry(topic, payload, null, Map.of(), null, null, null);
    }

    public OutboxEntry withCorrelationId(@Nullable String correlationId) {
        return new OutboxEntry(topic, payload, correlationId, headers, dueTime, delay, expiresAt);
    }

    public OutboxEntry withHeaders(Map<String, String> headers) {
        return new OutboxEntry(topic, payload, correlationId, headers, dueTime, delay, expiresAt);
    }

    public OutboxEntry withDueTime(@Nullable Instant dueTime) {
        return new OutboxEntry(topic, payload, correlationId, headers, dueTime, null, expiresAt);
    }

    public OutboxEntry withDelay(@Nullable Duration delay) {
        return new OutboxEntry(topic, payload, correlationId, headers, null, delay, expiresAt);
    }

    public OutboxEntry withExpiresAt(@Nullable Instant expiresAt) {
        return new OutboxEntry(topic, payload, correlationId, headers, dueTime, delay, expiresAt);
    }

    /** Without payload and headers: what may go into a log. */
    @Override
    public String toString() {
        return "OutboxEntry[topic=" + topic + ", correlationId=" + correlationId + "]";
    }
}
