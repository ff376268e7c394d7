package dev.windlass.internal.health;

import dev.windlass.base.QueueKind;
import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthStatus;
import dev.windlass.health.QueueMeasure;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Whether there is too much of something in one of the queues. Where not all could be looked at, nobody knows that there is not: that is degraded.
 *
 * @param what is counted, as people say it
 * @param queues which are looked at
 * @param ofTopics whether they are counted topic by topic, so that a look may end before it has seen all
 * @param degraded more than this
 * @param unhealthy more than this
 */
public record CountCheck(
        String what,
        Counts counts,
        Predicate<QueueKind> queues,
        ToLongFunction<QueueMeasure> count,
        boolean ofTopics,
        int degraded,
        int unhealthy)
        implements HealthCheck {

    /** Tells how much there is in each queue. */
    @FunctionalInterface
    public interface Counts {
        List<QueueMeasure> latest() throws SQLException;
    }

    @Override
    public HealthFinding check() throws SQLException {
        List<QueueMeasure> measured = counts.latest().stream()
                .filter(measure -> queues.test(measure.queue()))
                .toList();
        long most = measured.stream().mapToLong(count).max().orElse(0);
        HealthStatus status = most > unhealthy
                ? HealthStatus.UNHEALTHY
                : most > degraded || measured.stream().anyMatch(this::isCut)
                        ? HealthStatus.DEGRADED
                        : HealthStatus.HEALTHY;
        String told = measured.stream().map(this::told).collect(Collectors.joining(", "));
        return new HealthFinding(status, what + ": " + (told.isEmpty() ? "nothing to count" : told));
    }

    private boolean isCut(QueueMeasure measure) {
        return ofTopics && measure.moreTopics();
    }

    private String told(QueueMeasure measure) {
        long counted = count.applyAsLong(measure);
        if (counted > unhealthy) {
            return measure.queue() + " more than " + unhealthy;
        }
        return measure.queue()
                + (isCut(measure)
                        ? " at least " + counted
                                + " (not all topics could be looked at; is a transaction open for long?"
                                + " windlass doctor tells)"
                        : " " + counted);
    }
}
