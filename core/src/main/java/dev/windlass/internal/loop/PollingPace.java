package dev.windlass.internal.loop;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * How long to wait before the next look for work by oneself; after some that found nothing, the {@link Lookout} looks for all.
 *
 * <p>Nothing found: the wait doubles, from the polling interval on. Told that work may be coming (somebody wrote it in a
 * transaction that is not committed yet, or one notification spoke for several): looks follow in quick succession first, and
 * stay at the polling interval for some seconds.
 */
public final class PollingPace {
    public static final Duration QUICK = Duration.ofMillis(5);
    private static final Duration RESTLESS = Duration.ofSeconds(5);

    /** Who would wait as long as this leaves it to the lookout. */
    private static final Duration LONGEST = Duration.ofSeconds(1);

    private final Duration shortest;
    private final BooleanSupplier restsAtOnce;
    private final Runnable rests;
    private Duration next;
    private long restlessUntil = System.nanoTime();
    private volatile boolean expecting;
    private volatile boolean resting = true;

    public PollingPace(Duration shortest, Lookout lookout) {
        this(shortest, lookout::isResting, lookout::soon);
    }

    /**
     * @param restsAtOnce whether looks cost too much, as where each has to open a connection
     * @param rests told when it is left to the lookout
     */
    PollingPace(Duration shortest, BooleanSupplier restsAtOnce, Runnable rests) {
        this.shortest = shortest;
        this.restsAtOnce = restsAtOnce;
        this.rests = rests;
        this.next = shortest;
    }

    /** Work may become visible soon. Called from any thread; the others only by the loop. */
    public void expect() {
        expecting = true;
    }

    /** Whether it is left to the lookout to find work. */
    public boolean isResting() {
        return resting;
    }

    /** Who has had work and leaves it to the lookout tells it so: where some was, there may be more. */
    public Duration afterWork() {
        resting = false;
        next = shortest;
        return afterNothing();
    }

    /** Also returns {@link Loop#PARKED}: then the lookout looks. */
    public Duration afterNothing() {
        if (expecting) {
            expecting = false;
            restlessUntil = System.nanoTime() + RESTLESS.toNanos();
            next = min(QUICK, shortest);
        }
        boolean restless = System.nanoTime() - restlessUntil < 0;
        if (!restless && (next.compareTo(LONGEST) >= 0 || restsAtOnce.getAsBoolean())) {
            return rest();
        }
        resting = false;
        Duration now = min(next, LONGEST);
        Duration doubled = now.multipliedBy(2);
        next = restless && doubled.compareTo(shortest) > 0 ? max(now, shortest) : doubled;
        return now;
    }

    /** Leaves it to the lookout. */
    public Duration rest() {
        if (!resting) {
            resting = true;
            rests.run();
        }
        return Loop.PARKED;
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) <= 0 ? a : b;
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }
}
