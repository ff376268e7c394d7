package dev.windlass.testkit;

import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.support.Require;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that goes on as time does, and can be moved forward besides: as a process sees it that stood still for a while.
 *
 * <pre>{@code
 * TestClock clock = new TestClock();
 * Windlass windlass = database.start(database.windlass().clock(clock));
 * Lease lease = windlass.leases().tryAcquire("import", Duration.ofSeconds(30)).orElseThrow();
 *
 * clock.advance(Duration.ofSeconds(31));
 * assertThat(lease.isLost()).isTrue();
 * }</pre>
 *
 * <p>Only the holder believes that time has passed; {@link WindlassExtension#advance} makes the database believe it. Timers go by
 * the real time, so a callback comes within a second. Thread-safe.
 */
public final class TestClock implements MonotonicClock {
    private final AtomicLong moved = new AtomicLong();

    @Override
    public long nanos() {
        return System.nanoTime() + moved.get();
    }

    public void advance(Duration time) {
        moved.addAndGet(Require.notNegative("time to pass", time).toNanos());
    }
}
