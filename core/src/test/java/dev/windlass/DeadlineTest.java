package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DeadlineTest {
    private final AtomicLong now = new AtomicLong();
    private final MonotonicClock clock = now::get;

    /** A clock may begin anywhere, and run over the greatest number there is. */
    @ParameterizedTest
    @ValueSource(longs = {0, -5_000_000_000L, Long.MAX_VALUE - 3, Long.MIN_VALUE})
    void passesWhenItsTimeIsOver(long begin) {
        now.set(begin);
        Deadline deadline = Deadline.in(clock, Duration.ofNanos(10));
        assertThat(deadline.remaining()).isEqualTo(Duration.ofNanos(10));

        now.addAndGet(9);
        assertThat(deadline.hasPassed()).isFalse();
        assertThat(deadline.remaining()).isEqualTo(Duration.ofNanos(1));

        now.addAndGet(1);
        assertThat(deadline.hasPassed()).isTrue();
        now.addAndGet(100);
        assertThat(deadline.hasPassed()).isTrue();
        assertThat(deadline.remaining()).isZero();
    }

    @Test
    void noTimeHasPassedAtOnce() {
        assertThat(Deadline.in(clock, Duration.ZERO).hasPassed()).isTrue();
    }

    @Test
    void theClockOfTheSystemGoesOn() {
        MonotonicClock system = MonotonicClock.system();
        long first = system.nanos();
        assertThat(system.nanos() - first).isNotNegative();
    }
}
