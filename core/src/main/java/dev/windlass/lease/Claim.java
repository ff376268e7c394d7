package dev.windlass.lease;

import dev.windlass.runtime.Require;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What one acquisition asks for.
 *
 * @param permits how many there are of the semaphore; 0 for a lease
 * @param owner who asks, for people
 * @param holder who asks, for the database: fresh for each acquisition, so that an old one never touches a new one
 * @param renewAt the part of the duration after which it is renewed; null for that of the options
 */
record Claim(
        String name,
        int permits,
        String owner,
        Duration duration,
        UUID holder,
        @Nullable Double renewAt) {
    private static final int MAX_TEXT = 255;
    private static final int MAX_PERMITS = 10_000;
    private static final Duration SHORTEST = Duration.ofMillis(1);

    /** A crash keeps others out for this long; whatever needs more is renewed. */
    private static final Duration LONGEST = Duration.ofDays(1);

    Claim {
        checkName(name);
        checkOwner(owner);
        checkDuration(duration);
    }

    Claim(String name, int permits, String owner, Duration duration, UUID holder) {
        this(name, permits, owner, duration, holder, null);
    }

    static Claim of(String name, int permits, String owner, Duration duration) {
        return new Claim(name, permits, owner, duration, UUID.randomUUID());
    }

    /** The same for another try to get it. */
    Claim again() {
        return new Claim(name, permits, owner, duration, UUID.randomUUID(), renewAt);
    }

    static String checkOwner(String owner) {
        return Require.text("owner", owner, MAX_TEXT);
    }

    static String checkName(String name) {
        return Require.name("lease name", name, MAX_TEXT);
    }

    static int checkPermits(int permits) {
        if (permits < 1 || permits > MAX_PERMITS) {
            throw new IllegalArgumentException("expected 1 to " + MAX_PERMITS + " permits, got " + permits);
        }
        return permits;
    }

    static Duration checkDuration(Duration duration) {
        Require.positive("lease duration", duration);
        if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("expected a lease duration from 1 ms to 1 day, got " + duration
                    + "; it is renewed while it is held");
        }
        return duration;
    }

    @Override
    public String toString() {
        return permits == 0 ? "lease " + name : "permit of " + name;
    }
}
