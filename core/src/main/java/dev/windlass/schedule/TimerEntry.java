package dev.windlass.schedule;

import dev.windlass.internal.support.Require;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A timer to be written.
 *
 * @param topic chooses the handler of the message it becomes; case-sensitive, up to 255 characters
 * @param payload any text, also empty; Windlass does not look into it
 * @param dueTime when it is due; in the past means now
 * @param delay the same as a distance from the database's now; one of the two is given
 * @param key lets there be one timer of the topic with this key at most
 * @param correlationId of the message, up to 255 characters; empty means that it names the timer, as in {@code timer-<id>}
 * @param headers small texts beside the payload, such as a trace context
 */
public record TimerEntry(
        String topic,
        String payload,
        @Nullable Instant dueTime,
        @Nullable Duration delay,
        @Nullable Key key,
        @Nullable String correlationId,
        Map<String, String> headers) {

    private static final int MAX_TEXT = 255;

    /**
     * What one timer of a topic has at most, until it is done or cancelled.
     *
     * @param value up to 255 characters, for example the number of an order
     * @param replaces whether the timer that has it gets the new time and content, or stays as it is
     */
    public record Key(String value, boolean replaces) {
        public Key {
            Require.name("timer key", value, MAX_TEXT);
        }
    }

    public TimerEntry {
        Require.name("topic", topic, MAX_TEXT);
        Require.storable("payload", payload);
        if (dueTime != null) {
            Require.instant("due time", dueTime);
        }
        if (delay != null) {
            Require.notNegative("delay", delay);
        }
        if ((dueTime == null) == (delay == null)) {
            throw new IllegalArgumentException(
                    "expected a due time or a delay, got " + (dueTime == null ? "neither" : "both"));
        }
        correlationId = correlationId == null || correlationId.isEmpty()
                ? null
                : Require.optionalText("correlation id", correlationId, MAX_TEXT);
        headers = Require.headers(headers);
    }

    public static TimerEntry of(String topic, String payload, Instant dueTime) {
        return new TimerEntry(topic, payload, dueTime, null, null, null, Map.of());
    }

    public static TimerEntry of(String topic, String payload, Duration delay) {
        return new TimerEntry(topic, payload, null, delay, null, null, Map.of());
    }

    /** If there is a timer of this topic with this key, it gets this time and content, and keeps its identifier. */
    public TimerEntry replacing(String key) {
        return new TimerEntry(topic, payload, dueTime, delay, new Key(key, true), correlationId, headers);
    }

    /** If there is a timer of this topic with this key, it stays as it is, and nothing is written. */
    public TimerEntry ifAbsent(String key) {
        return new TimerEntry(topic, payload, dueTime, delay, new Key(key, false), correlationId, headers);
    }

    public TimerEntry withCorrelationId(@Nullable String correlationId) {
        return new TimerEntry(topic, payload, dueTime, delay, key, correlationId, headers);
    }

    public TimerEntry withHeaders(Map<String, String> headers) {
        return new TimerEntry(topic, payload, dueTime, delay, key, correlationId, headers);
    }

    /** Without payload and headers: what may go into a log. */
    @Override
    public String toString() {
        return "TimerEntry[topic=" + topic + ", due=" + (dueTime == null ? "in " + delay : dueTime.toString()) + "]";
    }
}
