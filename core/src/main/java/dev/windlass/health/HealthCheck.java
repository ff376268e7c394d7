package dev.windlass.health;

/**
 * A check of one's own, beside those that Windlass brings.
 *
 * <p>It runs on a thread of Windlass's, beside the others, and is called again only when it has returned. One that throws, or does not
 * answer in time, is unhealthy.
 */
@FunctionalInterface
public interface HealthCheck {
    HealthFinding check() throws Exception;
}
