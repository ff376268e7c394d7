package dev.windlass.internal.queue;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The priorities that the messages of a queue have.
 *
 * @param priorities the highest first
 * @param ageing how much longer a message has to wait to be as early as one of the next higher priority; null if it never is
 */
public record Ranking(List<Integer> priorities, @Nullable Duration ageing) {
    /** What a message has that was given no other. */
    public static final int NORMAL = 4;

    /** All have the same. */
    public static final Ranking NONE = new Ranking(List.of(NORMAL), null);

    public boolean isRanked() {
        return priorities.size() > 1;
    }
}
