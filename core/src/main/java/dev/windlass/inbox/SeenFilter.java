package dev.windlass.inbox;

import dev.windlass.runtime.Require;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Chooses messages to list; what is null does not matter.
 *
 * @param topic only queued messages have one
 * @param from the time of the state (see {@link ListedMessage#at}) is then or later
 * @param until it is earlier
 */
public record SeenFilter(
        @Nullable InboxStatus status,
        @Nullable String source,
        @Nullable String topic,
        @Nullable Instant from,
        @Nullable Instant until) {

    public SeenFilter {
        if (source != null) {
            Require.name("source", source, 255);
        }
        if (topic != null) {
            Require.name("topic", topic, InboxEntry.MAX_TOPIC);
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

    public static SeenFilter all() {
        return new SeenFilter(null, null, null, null, null);
    }

    public SeenFilter withStatus(@Nullable InboxStatus status) {
        return new SeenFilter(status, source, topic, from, until);
    }

    public SeenFilter withSource(@Nullable String source) {
        return new SeenFilter(status, source, topic, from, until);
    }

    public SeenFilter withTopic(@Nullable String topic) {
        return new SeenFilter(status, source, topic, from, until);
    }

    public SeenFilter withFrom(@Nullable Instant from) {
        return new SeenFilter(status, source, topic, from, until);
    }

    public SeenFilter withUntil(@Nullable Instant until) {
        return new SeenFilter(status, source, topic, from, until);
    }
}
