package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * A moment on a {@link MonotonicClock}, after which something is too late.
 *
 * @param clock the clock it is a moment of
 * @param atNanos the moment, as that clock counts
 */
public record Deadline(MonotonicClock clock, long atNanos) {

    public Deadline {
        Require.present("clock", clock);
    }

    /** So much time from now. */
    public static Deadline in(MonotonicClock clock, Duration time) {
        Require.notNegative("time until the deadline", time);
        return new Deadline(Require.present("clock", clock), clock.nanos() + time.toNanos());
    }

    /** What is left; zero when it has passed. */
    public Duration remaining() {
        return Duration.ofNanos(Math.max(0, atNanos - clock.nanos()));
    }

    public boolean hasPassed() {
        return atNanos - clock.nanos() <= 0;
    }
}
