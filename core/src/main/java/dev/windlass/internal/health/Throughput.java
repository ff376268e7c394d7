package dev.windlass.internal.health;

import dev.windlass.base.MonotonicClock;
import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthFinding;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Whether as much ends as is claimed. A node that claims and claims, and writes few outcomes, works in vain: its leases run out, or its
 * outcomes cannot be written. What it still holds, with a lease that goes on, is no sign of that: its handlers may take long. It compares
 * over a minute at least, so that a burst is no alarm.
 */
public final class Throughput implements HealthCheck {
    private static final long PERIOD = Duration.ofMinutes(1).toNanos();
    private static final long FEW = 100;

    private final LongSupplier claimed;
    private final LongSupplier settled;
    private final LongSupplier held;
    private final int percent;
    private final MonotonicClock clock;
    private Sample before;
    private Sample since;

    private record Sample(long claimed, long settled, long at) {}

    /**
     * @param held how many are in hand, with a lease that goes on
     * @param percent less of them than this come to an end where it is not well
     */
    public Throughput(LongSupplier claimed, LongSupplier settled, LongSupplier held, int percent) {
        this(claimed, settled, held, percent, MonotonicClock.system());
    }

    Throughput(LongSupplier claimed, LongSupplier settled, LongSupplier held, int percent, MonotonicClock clock) {
        this.claimed = claimed;
        this.settled = settled;
        this.held = held;
        this.percent = percent;
        this.clock = clock;
        this.before = sample();
        this.since = before;
    }

    private Sample sample() {
        return new Sample(claimed.getAsLong(), settled.getAsLong(), clock.nanos());
    }

    @Override
    public synchronized HealthFinding check() {
        Sample now = sample();
        long taken = now.claimed - before.claimed;
        long ended = now.settled - before.settled;
        if (now.at - since.at >= PERIOD) {
            before = since;
            since = now;
        }
        long gone = taken - held.getAsLong();
        String told = taken + " messages claimed and " + ended + " ended lately";
        return gone >= FEW && 100 * ended < percent * gone
                ? HealthFinding.degraded(told + "; handlers do not keep up, or outcomes cannot be written")
                : HealthFinding.healthy(told);
    }
}
