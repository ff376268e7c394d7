package dev.windlass.internal.health;

import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.queue.Measuring;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How much there is in all queues of a store, asked for once for all who want to know. */
public final class Measures {
    /** Who asks all the time gives the database a thirtieth of its time to do, at most. */
    private static final int PAUSE_FACTOR = 30;

    private static final Duration QUICK = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofMinutes(1);

    private final Measuring queues;
    private final int most;
    private final Duration validFor;
    private Duration valid = Duration.ZERO;
    private @Nullable List<QueueMeasure> last;
    private long lastAt;

    /**
     * @param most where counting stops
     * @param validFor how long an answer is given again, at least; one that took long to find, for longer
     */
    public Measures(Measuring queues, int most, Duration validFor) {
        this.queues = queues;
        this.most = most;
        this.validFor = validFor;
    }

    public synchronized List<QueueMeasure> latest() throws SQLException {
        List<QueueMeasure> known = last;
        if (known != null && System.nanoTime() - lastAt < valid.toNanos()) {
            return known;
        }
        long start = System.nanoTime();
        List<QueueMeasure> found = queues.measure(most);
        last = found;
        lastAt = System.nanoTime();
        valid = max(validFor, pauseAfter(Duration.ofNanos(lastAt - start)));
        return found;
    }

    private static Duration pauseAfter(Duration took) {
        if (took.compareTo(QUICK) < 0) {
            return Duration.ZERO;
        }
        Duration pause = took.multipliedBy(PAUSE_FACTOR);
        return pause.compareTo(LONGEST) < 0 ? pause : LONGEST;
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }
}
