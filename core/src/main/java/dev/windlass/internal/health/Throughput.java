package dev.windlass.internal.health;

import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthFinding;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Whether as much ends as is claimed. A node that claims and claims, and writes few outcomes, works in vain: its leases run out, or its
 * outcomes cannot be written. It compares over a minute at least, so that a burst is no alarm.
 */
public final class Throughput implements HealthCheck {
    private static final long PERIOD = Duration.ofMinutes(1).toNanos();
    private static final long FEW = 100;

    private final LongSupplier claimed;
    private final LongSupplier settled;
    private Sample before;
    private Sample since;

    private record Sample(long claimed, long settled, long at) {}

    public Throughput(LongSupplier claimed, LongSupplier settled) {
        this.claimed = claimed;
        this.settled = settled;
        this.before = sample();
        this.since = before;
    }

    private Sample sample() {
        return new Sample(claimed.getAsLong(), settled.getAsLong(), System.nanoTime());
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
        String told = taken + " messages claimed and " + ended + " ended lately";
        return taken >= FEW && ended < taken / 2
                ? HealthFinding.degraded(told + "; handlers do not keep up, or outcomes cannot be written")
                : HealthFinding.healthy(told);
    }
}
