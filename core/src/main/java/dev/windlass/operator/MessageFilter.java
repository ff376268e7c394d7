package dev.windlass.operator;

import dev.windlass.base.WorkStatus;
import dev.windlass.internal.support.Require;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Chooses messages, timers or runs; what is null does not matter.
 *
 * @param source where it came from: who sent a message of the inbox, the job of a run; {@code timer} or {@code job} in the outbox
 * @param from the time of the state is then or later: when what is ready is due, when the attempt of what is in progress began, when
 *     it ended; without a state, when it was created
 * @param until it is earlier
 * @param error a part of the last error, in whatever case
 */
public record MessageFilter(
        @Nullable WorkStatus status,
        @Nullable String topic,
        @Nullable String source,
        @Nullable Instant from,
        @Nullable Instant until,
        @Nullable String error) {
    private static final int MAX_NAME = 255;

    public MessageFilter {
        if (topic != null) {
            Require.name("topic", topic, MAX_NAME);
        }
        if (source != null) {
            Require.name("source", source, MAX_NAME);
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
        if (error != null) {
            Require.text("error text", error, 2048);
        }
    }

    public static MessageFilter all() {
        return new MessageFilter(null, null, null, null, null, null);
    }

    /** What was given up. */
    public static MessageFilter failed() {
        return all().withStatus(WorkStatus.FAILED);
    }

    public MessageFilter withStatus(@Nullable WorkStatus status) {
        return new MessageFilter(status, topic, source, from, until, error);
    }

    public MessageFilter withTopic(@Nullable String topic) {
        return new MessageFilter(status, topic, source, from, until, error);
    }

    public MessageFilter withSource(@Nullable String source) {
        return new MessageFilter(status, topic, source, from, until, error);
    }

    public MessageFilter withFrom(@Nullable Instant from) {
        return new MessageFilter(status, topic, source, from, until, error);
    }

    public MessageFilter withUntil(@Nullable Instant until) {
        return new MessageFilter(status, topic, source, from, until, error);
    }

    public MessageFilter withError(@Nullable String error) {
        return new MessageFilter(status, topic, source, from, until, error);
    }
}
