package dev.windlass.health;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What all checks found.
 *
 * @param status the worst of them
 * @param totalDuration how long it took; checks run beside each other
 */
public record HealthReport(HealthStatus status, List<Entry> checks, Duration totalDuration) {

    /**
     * What one check found.
     *
     * @param error why it could not be done; such a check is unhealthy
     */
    public record Entry(
            String name, HealthStatus status, Duration duration, String description, Optional<String> error) {}

    public static HealthReport of(List<Entry> checks, Duration totalDuration) {
        return new HealthReport(
                HealthStatus.worst(checks.stream().map(Entry::status).toList()), List.copyOf(checks), totalDuration);
    }
}
