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
 * Whether there is too much of something in one of the queues.
 *
 * @param what is counted, as people say it
 * @param queues which are looked at
 * @param degraded more than this
 * @param unhealthy more than this
 */
public record CountCheck(
        String what,
        Measures measures,
        Predicate<QueueKind> queues,
        ToLongFunction<QueueMeasure> count,
        int degraded,
        int unhealthy)
        implements HealthCheck {

    @Override
    public HealthFinding check() throws SQLException {
        List<QueueMeasure> measured = measures.latest().stream()
                .filter(measure -> queues.test(measure.queue()))
                .toList();
        long most = measured.stream().mapToLong(count).max().orElse(0);
        HealthStatus status = most > unhealthy
                ? HealthStatus.UNHEALTHY
                : most > degraded ? HealthStatus.DEGRADED : HealthStatus.HEALTHY;
        String told = measured.stream()
                .map(measure -> measure.queue() + " " + bounded(count.applyAsLong(measure)))
                .collect(Collectors.joining(", "));
        return new HealthFinding(status, what + ": " + (told.isEmpty() ? "nothing to count" : told));
    }

    private String bounded(long counted) {
        return counted > unhealthy ? "more than " + unhealthy : Long.toString(counted);
    }
}
