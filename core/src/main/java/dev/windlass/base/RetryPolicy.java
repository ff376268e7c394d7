package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How often and after what pause a failed attempt is repeated: the pause doubles from {@code base} up to {@code cap}, and a
 * random part of it is taken off, so that messages which failed together do not come back together.
 *
 * @param maxAttempts how many attempts a message has, the first included
 * @param base the pause after the first failure
 * @param cap the longest pause
 * @param jitter the part of the pause that is random, from 0 to 1
 */
public record RetryPolicy(int maxAttempts, Duration base, Duration cap, double jitter) {

    public RetryPolicy {
        Require.positive("number of attempts", maxAttempts);
        Require.positive("base pause", base);
        Require.positive("longest pause", cap);
        if (!(jitter >= 0 && jitter <= 1)) {
            throw new IllegalArgumentException("expected a jitter from 0 to 1, got " + jitter);
        }
    }

    /** Ten attempts; 1 s, 2 s, 4 s, … up to 60 s; a fifth of it random. */
    public static RetryPolicy defaults() {
        return new RetryPolicy(10, Duration.ofSeconds(1), Duration.ofSeconds(60), 0.2);
    }

    /** Four tries within less than a second: what the library does about its own calls of the database. */
    public static RetryPolicy ofCalls() {
        return new RetryPolicy(4, Duration.ofMillis(60), Duration.ofMillis(300), 0.4);
    }

    public RetryPolicy withMaxAttempts(int maxAttempts) {
        return new RetryPolicy(maxAttempts, base, cap, jitter);
    }

    public RetryPolicy withBase(Duration base) {
        return new RetryPolicy(maxAttempts, base, cap, jitter);
    }

    public RetryPolicy withCap(Duration cap) {
        return new RetryPolicy(maxAttempts, base, cap, jitter);
    }

    public RetryPolicy withJitter(double jitter) {
        return new RetryPolicy(maxAttempts, base, cap, jitter);
    }

    /** The pause after a failure that {@code retryCount} failures came before. */
    public Duration delay(int retryCount) {
        double nanos = Math.min((double) base.toNanos() * Math.pow(2, retryCount), (double) cap.toNanos());
        double random = jitter * ThreadLocalRandom.current().nextDouble();
        return Duration.ofNanos((long) (nanos * (1 - random)));
    }
}
