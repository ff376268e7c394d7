package dev.windlass.health;

import java.util.Collection;
import java.util.Comparator;

/** How something is, from well to not. */
public enum HealthStatus {
    HEALTHY,
    /** It works, and somebody should look at it. */
    DEGRADED,
    UNHEALTHY;

    /** The worst of these; healthy, if there are none. */
    public static HealthStatus worst(Collection<HealthStatus> all) {
        return all.stream().max(Comparator.naturalOrder()).orElse(HEALTHY);
    }
}
