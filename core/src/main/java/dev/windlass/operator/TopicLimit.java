package dev.windlass.operator;

import dev.windlass.internal.support.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How many messages of a topic may be handled, over all nodes. The database counts, so it is exact whoever claims.
 *
 * @param running so many at once, those whose lease has run out left out; null: as many as nodes can
 * @param perKey so many of each key at once; only for the work queue
 * @param rate so many begin within any time of the length of {@code period}; either both are given or none
 */
public record TopicLimit(
        @Nullable Integer running,
        @Nullable Integer perKey,
        @Nullable Integer rate,
        @Nullable Duration period) {

    public TopicLimit {
        positive("number running at once", running);
        positive("number for each key", perKey);
        positive("rate", rate);
        if ((rate == null) != (period == null)) {
            throw new IllegalArgumentException(
                    "expected a rate with its period, got " + (rate == null ? "a period" : "a rate") + " alone");
        }
        if (period != null) {
            Require.positive("period", period);
        }
    }

    private static void positive(String what, @Nullable Integer value) {
        if (value != null) {
            Require.positive(what, value);
        }
    }

    /** Lifts all limits. */
    public static TopicLimit none() {
        return new TopicLimit(null, null, null, null);
    }

    public TopicLimit withRunning(int running) {
        return new TopicLimit(running, perKey, rate, period);
    }

    public TopicLimit withPerKey(int perKey) {
        return new TopicLimit(running, perKey, rate, period);
    }

    public TopicLimit withRate(int rate, Duration period) {
        return new TopicLimit(running, perKey, rate, period);
    }
}
