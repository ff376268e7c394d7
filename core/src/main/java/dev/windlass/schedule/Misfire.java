package dev.windlass.schedule;

import dev.windlass.internal.support.JobDurations;
import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * What becomes of ticks that were missed, because no node was there, the database was away, or the job was in trouble. Ticks that
 * make no run are counted with the job.
 */
public sealed interface Misfire {

    /** One run, for the latest tick. */
    record Once() implements Misfire {}

    /** A run for each tick, the oldest first, but only for the latest ones if there are more. */
    record All(int max) implements Misfire {
        private static final int MOST = 10_000;

        public All {
            Require.positive("number of runs", max);
            if (max > MOST) {
                throw new IllegalArgumentException("expected at most " + MOST + " runs for missed ticks, got " + max);
            }
        }
    }

    /** No run for a tick that is later than this; if the latest one is not, it runs. */
    record Skip(Duration later) implements Misfire {
        public Skip {
            JobDurations.wholeMillis("tolerated lateness", Require.positive("tolerated lateness", later));
        }
    }

    /** One run for all of them. */
    static Misfire once() {
        return new Once();
    }

    /** A run for each of the latest {@code max}, which is 10,000 or less. */
    static Misfire all(int max) {
        return new All(max);
    }

    /** No run for a tick that is later than a minute. */
    static Misfire skip() {
        return new Skip(Duration.ofMinutes(1));
    }

    /** No run for a tick that is later than this. */
    static Misfire skip(Duration later) {
        return new Skip(later);
    }
}
