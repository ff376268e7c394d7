package dev.windlass.inbox;

import dev.windlass.internal.support.Require;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message that has arrived, for the queue.
 *
 * @param topic chooses the handler; case-sensitive, up to 255 characters
 * @param payload any text, also empty; Windlass does not look into it
 * @param headers small texts beside the payload, such as a trace context
 * @param hash of the content, to find out if something else arrives under the same key
 * @param dueTime the earliest time of the first attempt; in the past means now
 * @param delay the same as a distance from the database's now; give one of the two
 * @param expiresAt if nobody has handled it until then, it fails
 */
public record InboxEntry(
        InboxKey key,
        String topic,
        String payload,
        Map<String, String> headers,
        @Nullable ContentHash hash,
        @Nullable Instant dueTime,
        @Nullable Duration delay,
        @Nullable Instant expiresAt) {

    static final int MAX_TOPIC = 255;

    public InboxEntry {
        Require.present("inbox key", key);
        Require.name("topic", topic, MAX_TOPIC);
        Require.storable("payload", payload);
        headers = Require.headers(headers);
        if (dueTime != null) {
            Require.instant("due time", dueTime);
        }
        if (delay != null) {
            Require.notNegative("delay", delay);
        }
        if (dueTime != null && delay != null) {
            throw new IllegalArgumentException("expected a due time or a delay, got both");
        }
        if (expiresAt != null) {
            Require.instant("expiry", expiresAt);
        }
        if (expiresAt != null && dueTime != null && !expiresAt.isAfter(dueTime)) {
            throw new IllegalArgumentException(
                    "expected an expiry after the due time " + dueTime + ", got " + expiresAt);
        }
    }

    public static InboxEntry of(String source, String messageId, String topic, String payload) {
        return new InboxEntry(new InboxKey(source, messageId), topic, payload, Map.of(), null, null, null, null);
    }

    public InboxEntry withHeaders(Map<String, String> headers) {
        return new InboxEntry(key, topic, payload, headers, hash, dueTime, delay, expiresAt);
    }

    public InboxEntry withHash(@Nullable ContentHash hash) {
        return new InboxEntry(key, topic, payload, headers, hash, dueTime, delay, expiresAt);
    }

    public InboxEntry withDueTime(@Nullable Instant dueTime) {
        return new InboxEntry(key, topic, payload, headers, hash, dueTime, null, expiresAt);
    }

    public InboxEntry withDelay(@Nullable Duration delay) {
        return new InboxEntry(key, topic, payload, headers, hash, null, delay, expiresAt);
    }

    public InboxEntry withExpiresAt(@Nullable Instant expiresAt) {
        return new InboxEntry(key, topic, payload, headers, hash, dueTime, delay, expiresAt);
    }

    /** Without payload and headers: what may go into a log. */
    @Override
    public String toString() {
        return "InboxEntry[" + key + ", topic=" + topic + "]";
    }
}
