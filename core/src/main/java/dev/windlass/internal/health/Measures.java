package dev.windlass.internal.health;

import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.queue.Measuring;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
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
    private @Nullable SQLException failure;
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

    /** The latest answer, or why there was none: who is refused is not asked again sooner. */
    public List<QueueMeasure> latest() throws SQLException {
        return latest(System.nanoTime());
    }

    /** What was found while this one waited for its turn is its answer too. */
    private synchronized List<QueueMeasure> latest(long asked) throws SQLException {
        boolean isKnown = last != null || failure != null;
        if (!isKnown || (lastAt - asked <= 0 && System.nanoTime() - lastAt >= valid.toNanos())) {
            ask();
        }
        if (failure != null) {
            throw failure;
        }
        return Objects.requireNonNull(last);
    }

    private void ask() {
        long start = System.nanoTime();
        boolean away = false;
        try {
            last = queues.measure(most);
            failure = null;
        } catch (SQLException e) {
            failure = e;
            away = queues.database().dialect().isOutage(e);
        }
        lastAt = System.nanoTime();
        valid = away ? validFor : max(validFor, pauseAfter(Duration.ofNanos(lastAt - start)));
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
