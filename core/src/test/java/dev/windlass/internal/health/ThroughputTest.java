package dev.windlass.internal.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.health.HealthStatus;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** When a node counts as one that works in vain. */
final class ThroughputTest {
    private final AtomicLong claimed = new AtomicLong();
    private final AtomicLong settled = new AtomicLong();
    private final AtomicLong held = new AtomicLong();
    private final AtomicLong now = new AtomicLong();

    private Throughput atLeast(int percent) {
        return new Throughput(claimed::get, settled::get, held::get, percent, now::get);
    }

    private static HealthStatus status(Throughput throughput) {
        return throughput.check().status();
    }

    @Test
    void whatIsInHandForLongIsNoAlarm() {
        Throughput throughput = atLeast(50);
        claimed.set(150);
        held.set(150);
        now.addAndGet(Duration.ofSeconds(90).toNanos());
        assertThat(status(throughput)).isEqualTo(HealthStatus.HEALTHY);
    }

    @Test
    void whatIsClaimedAndGoneWithoutAnEndIs() {
        Throughput throughput = atLeast(50);
        claimed.set(300);
        held.set(150);
        settled.set(70);
        assertThat(status(throughput)).isEqualTo(HealthStatus.DEGRADED);
        settled.set(75);
        assertThat(status(throughput)).isEqualTo(HealthStatus.HEALTHY);
    }

    @Test
    void theThresholdIsAnOption() {
        claimed.set(0);
        Throughput throughput = atLeast(0);
        claimed.set(300);
        assertThat(status(throughput)).isEqualTo(HealthStatus.HEALTHY);
    }
}
