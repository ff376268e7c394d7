package dev.windlass.health;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * When something counts as unwell.
 *
 * @param timeout how long all checks may take together
 * @param cacheFor how long an answer is given again
 * @param backlogDegraded more messages than this that are due in one queue
 * @param backlogUnhealthy the same
 * @param overdueDegraded more timers than this that are due for more than five minutes
 * @param overdueUnhealthy the same
 * @param stuckUnhealthy more messages than this that are stuck in one queue; a single one is degraded
 */
public record HealthOptions(
        Duration timeout,
        Duration cacheFor,
        int backlogDegraded,
        int backlogUnhealthy,
        int overdueDegraded,
        int overdueUnhealthy,
        int stuckUnhealthy) {

    /** Counting goes that far, and takes as long. */
    private static final int MOST = 1_000_000;

    public HealthOptions {
        Require.positive("time-out", timeout);
        if (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("expected a time-out from 1 ms to an hour, got " + timeout);
        }
        Require.notNegative("time of the cache", cacheFor);
        ordered("backlog", backlogDegraded, backlogUnhealthy);
        ordered("overdue timers", overdueDegraded, overdueUnhealthy);
        Require.positive("number of stuck messages", stuckUnhealthy);
    }

    private static void ordered(String what, int degraded, int unhealthy) {
        if (degraded < 0 || unhealthy < degraded || unhealthy > MOST) {
            throw new IllegalArgumentException("expected thresholds of the " + what
                    + " that are not negative, the unhealthy one not below the degraded one and at most " + MOST
                    + ", got " + degraded + " and "
                    + unhealthy);
        }
    }

    /** Ten seconds, cached for five; a backlog of 10,000 and 50,000; 10 and 100 overdue timers; 100 stuck messages. */
    public static HealthOptions defaults() {
        return new HealthOptions(Duration.ofSeconds(10), Duration.ofSeconds(5), 10_000, 50_000, 10, 100, 100);
    }

    public HealthOptions withTimeout(Duration timeout) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy);
    }

    public HealthOptions withCacheFor(Duration cacheFor) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy);
    }

    public HealthOptions withBacklog(int degraded, int unhealthy) {
        return new HealthOptions(
                timeout, cacheFor, degraded, unhealthy, overdueDegraded, overdueUnhealthy, stuckUnhealthy);
    }

    public HealthOptions withOverdueTimers(int degraded, int unhealthy) {
        return new HealthOptions(
                timeout, cacheFor, backlogDegraded, backlogUnhealthy, degraded, unhealthy, stuckUnhealthy);
    }

    public HealthOptions withStuckUnhealthy(int stuckUnhealthy) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy);
    }
}
