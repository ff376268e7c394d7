package dev.windlass.internal.loop;

import java.time.Duration;

/**
 * How long to wait before the next look for work.
 *
 * <p>Nothing found: the wait doubles, from the polling interval to its maximum. Told that work may be coming (somebody wrote it
 * in a transaction that is not committed yet, or one notification spoke for several): looks follow in quick succession first,
 * and stay at the polling interval for some seconds.
 */
public final class PollingPace {
    public static final Duration QUICK = Duration.ofMillis(5);
    private static final Duration RESTLESS = Duration.ofSeconds(5);

    private final Duration shortest;
    private volatile Duration longest;
    private Duration next;
    private long restlessUntil = System.nanoTime();
    private volatile boolean expecting;

    public PollingPace(Duration shortest, Duration longest) {
        this.shortest = shortest;
        this.longest = longest;
        this.next = shortest;
    }

    /** Work may become visible soon. Called from any thread; the others only by the loop. */
    public void expect() {
        expecting = true;
    }

    public void limit(Duration longest) {
        this.longest = longest;
    }

    public Duration afterWork() {
        next = shortest;
        return afterNothing();
    }

    public Duration afterNothing() {
        if (expecting) {
            expecting = false;
            restlessUntil = System.nanoTime() + RESTLESS.toNanos();
            next = min(QUICK, shortest);
        }
        Duration now = min(next, longest);
        Duration doubled = now.multipliedBy(2);
        boolean restless = System.nanoTime() - restlessUntil < 0;
        next = restless && doubled.compareTo(shortest) > 0 ? max(now, shortest) : min(doubled, longest);
        return now;
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) <= 0 ? a : b;
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }
}
