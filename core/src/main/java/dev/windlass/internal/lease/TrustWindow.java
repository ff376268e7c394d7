package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * The time in which a holder may believe that it holds a lease: its duration, counted from before it asked for it, so that it
 * ends no later than the database's.
 *
 * <p>It ends when either clock says so. The monotonic clock cannot be set, but may stand still while the machine is suspended;
 * the wall clock goes on then, and is right when the machine comes back. A wall clock set forward ends the window too early: a
 * lease is lost without need, which is safe. One set back changes nothing: the monotonic clock still counts.
 */
record TrustWindow(Deadline deadline, InstantSource wall, Instant wallDeadline) {
    static final InstantSource WALL = InstantSource.system();

    static TrustWindow open(MonotonicClock clock, InstantSource wall, Duration duration) {
        return new TrustWindow(
                Deadline.in(clock, duration), wall, wall.instant().plus(duration));
    }

    boolean hasPassed() {
        return deadline.hasPassed() || !wall.instant().isBefore(wallDeadline);
    }

    /** What is left by the monotonic clock, which alone is good for waiting. */
    Duration remaining() {
        return deadline.remaining();
    }

    boolean endsAfter(TrustWindow other) {
        return deadline.atNanos() - other.deadline.atNanos() > 0;
    }
}
