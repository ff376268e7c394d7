package dev.windlass.internal.health;

import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.queue.Measuring;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How much there is in all queues of a store, asked for once for all who want to know. */
public final class Measures {
    private final Measuring queues;
    private final int most;
    private final Duration validFor;
    private @Nullable List<QueueMeasure> last;
    private long lastAt;

    /**
     * @param most where counting stops
     * @param validFor how long an answer is given again
     */
    public Measures(Measuring queues, int most, Duration validFor) {
        this.queues = queues;
        this.most = most;
        this.validFor = validFor;
    }

    public synchronized List<QueueMeasure> latest() throws SQLException {
        List<QueueMeasure> known = last;
        if (known != null && System.nanoTime() - lastAt < validFor.toNanos()) {
            return known;
        }
        List<QueueMeasure> found = queues.measure(most);
        last = found;
        lastAt = System.nanoTime();
        return found;
    }
}
