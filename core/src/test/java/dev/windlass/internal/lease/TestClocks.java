package dev.windlass.internal.lease;

import dev.windlass.base.MonotonicClock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/** Both clocks of a machine, which go on as they do and can be moved besides. */
final class TestClocks {
    private final AtomicLong monotonicMoved = new AtomicLong();
    private volatile Duration wallMoved = Duration.ZERO;

    MonotonicClock monotonic() {
        return () -> System.nanoTime() + monotonicMoved.get();
    }

    InstantSource wall() {
        return () -> Instant.now().plus(wallMoved);
    }

    /** As a process sees it that was stopped for this long. */
    void pass(Duration time) {
        monotonicMoved.addAndGet(time.toNanos());
        wallMoved = wallMoved.plus(time);
    }

    /** As a machine sees it that was suspended for this long, on systems whose monotonic clock stands still then. */
    void suspend(Duration time) {
        wallMoved = wallMoved.plus(time);
    }

    /** As somebody does who sets the clock. */
    void setWall(Duration by) {
        wallMoved = wallMoved.plus(by);
    }
}
