package dev.windlass.outbox;

import dev.windlass.runtime.Require;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Chooses messages to list; what is null does not matter.
 *
 * @param from the time of the state (see {@link ListedMessage#at}) is then or later
 * @param until it is earlier
 */
public record MessageFilter(
        @Nullable OutboxStatus status,
        @Nullable String topic,
        @Nullable Instant from,
        @Nullable Instant until) {

    public MessageFilter {
        if (topic != null) {
            Require.name("topic", topic, OutboxEntry.MAX_TOPIC);
        }
        if (from != null) {
            Require.instant("time", from);
        }
        if (until != null) {
            Require.instant("time", until);
        }
        if (from != null && until != null && !from.isBefore(until)) {
            throw new IllegalArgumentException(
                    "expected a time that begins before it ends, got " + from + " to " + until);
        }
    }

    public static MessageFilter all() {
        return new MessageFilter(null, null, null, null);
    }

    public MessageFilter withStatus(@Nullable OutboxStatus status) {
        return new MessageFilter(status, topic, from, until);
    }

    public MessageFilter withTopic(@Nullable String topic) {
        return new MessageFilter(status, topic, from, until);
    }

    public MessageFilter withFrom(@Nullable Instant from) {
        return new MessageFilter(status, topic, from, until);
    }

    public MessageFilter withUntil(@Nullable Instant until) {
        return new MessageFilter(status, topic, from, until);
    }
}
