package dev.windlass.health;

import dev.windlass.internal.support.Require;

/**
 * What a check found.
 *
 * @param description for people: what was looked at, and what was seen; no content of messages
 */
public record HealthFinding(HealthStatus status, String description) {
    public HealthFinding {
        Require.present("status", status);
        Require.present("description", description);
    }

    public static HealthFinding healthy(String description) {
        return new HealthFinding(HealthStatus.HEALTHY, description);
    }

    public static HealthFinding degraded(String description) {
        return new HealthFinding(HealthStatus.DEGRADED, description);
    }

    public static HealthFinding unhealthy(String description) {
        return new HealthFinding(HealthStatus.UNHEALTHY, description);
    }
}
