package dev.windlass.internal.support;

import java.time.Duration;

/** What leases and semaphores can be. */
public final class LeaseLimits {
    private static final int MAX_TEXT = 255;
    private static final int MAX_PERMITS = 10_000;
    private static final Duration SHORTEST = Duration.ofMillis(1);

    /** A crash keeps others out for this long; whatever needs more is renewed. */
    private static final Duration LONGEST = Duration.ofDays(1);

    private LeaseLimits() {}

    public static String checkOwner(String owner) {
        return Require.text("owner", owner, MAX_TEXT);
    }

    public static String checkName(String name) {
        return Require.name("lease name", name, MAX_TEXT);
    }

    public static int checkPermits(int permits) {
        if (permits < 1 || permits > MAX_PERMITS) {
            throw new IllegalArgumentException("expected 1 to " + MAX_PERMITS + " permits, got " + permits);
        }
        return permits;
    }

    public static Duration checkDuration(Duration duration) {
        Require.positive("lease duration", duration);
        if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("expected a lease duration from 1 ms to 1 day, got " + duration
                    + "; it is renewed while it is held");
        }
        return duration;
    }
}
