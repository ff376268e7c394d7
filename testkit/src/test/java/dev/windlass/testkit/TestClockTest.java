package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.lease.Lease;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class TestClockTest {
    private static final Duration LEASE = Duration.ofMinutes(5);

    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final TestClock clock = new TestClock();

    @Test
    void aHolderWhoseClockIsMovedBeyondItsLeaseHasLostIt() {
        Windlass windlass = database.start(database.windlass().clock(clock));
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = windlass.leases().tryAcquire("a", LEASE).orElseThrow();
        lease.onLost(told::countDown);

        clock.advance(LEASE.minusMinutes(1));
        assertThat(lease.isLost()).isFalse();
        clock.advance(LEASE);

        assertThat(lease.isLost()).isTrue();
        await().until(() -> told.getCount() == 0);
    }

    @Test
    void aLeaseRunsOutForTheDatabaseWhenTimeIsAdvancedThere() {
        Windlass windlass = database.start(database.windlass());
        Lease lease = windlass.leases().tryAcquire("a", LEASE).orElseThrow();

        database.advance(LEASE.plusSeconds(1));

        assertThat(windlass.leases().tryAcquire("a", LEASE)).isPresent();
        assertThat(lease.isLost()).isFalse();
        assertThat(lease.tryRenewNow()).isFalse();
        assertThat(lease.isLost()).isTrue();
    }

    @Test
    void timeDoesNotGoBack() {
        assertThatThrownBy(() -> clock.advance(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected a time to pass of zero or more, got PT-1S");
    }
}
