package dev.windlass.outbox;

import dev.windlass.runtime.Require;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Chooses failed messages; what is null does not matter.
 *
 * @param failedFrom failed then or later
 * @param failedBefore failed earlier
 * @param error a part of the last error, in whatever case
 */
public record DeadLetterFilter(
        @Nullable String topic,
        @Nullable Instant failedFrom,
        @Nullable Instant failedBefore,
        @Nullable String error) {

    public DeadLetterFilter {
        if (topic != null) {
            Require.name("topic", topic, OutboxEntry.MAX_TOPIC);
        }
        if (failedFrom != null) {
            Require.instant("time", failedFrom);
        }
        if (failedBefore != null) {
            Require.instant("time", failedBefore);
        }
        if (failedFrom != null && failedBefore != null && !failedFrom.isBefore(failedBefore)) {
            throw new IllegalArgumentException(
                    "expected a time that begins before it ends, got " + failedFrom + " to " + failedBefore);
        }
        if (error != null) {
            Require.text("error text", error, 2048);
        }
    }

    public static DeadLetterFilter all() {
        return new DeadLetterFilter(null, null, null, null);
    }

    public DeadLetterFilter withTopic(@Nullable String topic) {
        return new DeadLetterFilter(topic, failedFrom, failedBefore, error);
    }

    public DeadLetterFilter withFailedFrom(@Nullable Instant failedFrom) {
        return new DeadLetterFilter(topic, failedFrom, failedBefore, error);
    }

    public DeadLetterFilter withFailedBefore(@Nullable Instant failedBefore) {
        return new DeadLetterFilter(topic, failedFrom, failedBefore, error);
    }

    public DeadLetterFilter withError(@Nullable String error) {
        return new DeadLetterFilter(topic, failedFrom, failedBefore, error);
    }
}
