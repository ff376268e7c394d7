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
 * @param throughputDegraded less than so many percent of the messages that were claimed, and are not in hand any more, came to an end
 */
public record HealthOptions(
        Duration timeout,
        Duration cacheFor,
        int backlogDegraded,
        int backlogUnhealthy,
        int overdueDegraded,
        int overdueUnhealthy,
        int stuckUnhealthy,
        int throughputDegraded) {

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
        if (throughputDegraded < 0 || throughputDegraded > 100) {
            throw new IllegalArgumentException(
                    "expected a threshold of the throughput from 0 to 100 percent, got " + throughputDegraded);
        }
    }

    private static void ordered(String what, int degraded, int unhealthy) {
        if (degraded < 0 || unhealthy < degraded || unhealthy > MOST) {
            throw new IllegalArgumentException("expected thresholds of the " + what
                    + " that are not negative, the unhealthy one not below the degraded one and at most " + MOST
                    + ", got " + degraded + " and "
                    + unhealthy);
        }
    }

    /** Ten seconds, cached for five; a backlog of 10,000 and 50,000; 10 and 100 overdue timers; 100 stuck messages; half of what is claimed. */
    public static HealthOptions defaults() {
        return new HealthOptions(Duration.ofSeconds(10), Duration.ofSeconds(5), 10_000, 50_000, 10, 100, 100, 50);
    }

    public HealthOptions withTimeout(Duration timeout) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy,
                throughputDegraded);
    }

    public HealthOptions withCacheFor(Duration cacheFor) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy,
                throughputDegraded);
    }

    public HealthOptions withBacklog(int degraded, int unhealthy) {
        return new HealthOptions(
                timeout,
                cacheFor,
                degraded,
                unhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy,
                throughputDegraded);
    }

    public HealthOptions withOverdueTimers(int degraded, int unhealthy) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                degraded,
                unhealthy,
                stuckUnhealthy,
                throughputDegraded);
    }

    public HealthOptions withStuckUnhealthy(int stuckUnhealthy) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy,
                throughputDegraded);
    }

    public HealthOptions withThroughputDegraded(int percent) {
        return new HealthOptions(
                timeout,
                cacheFor,
                backlogDegraded,
                backlogUnhealthy,
                overdueDegraded,
                overdueUnhealthy,
                stuckUnhealthy,
                percent);
    }
}
