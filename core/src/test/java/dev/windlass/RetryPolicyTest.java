package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.RetryPolicy;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class RetryPolicyTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    @Shows({"OBX-061", "OBX-062", "OBX-065"})
    void theDefaultIsTenAttemptsWithPausesThatDoubleUpToAMinute() {
        RetryPolicy policy = RetryPolicy.defaults().withJitter(0);
        assertThat(policy.maxAttempts()).isEqualTo(10);
        int[] seconds = {1, 2, 4, 8, 16, 32, 60, 60, 60};
        for (int retry = 0; retry < seconds.length; retry++) {
            assertThat(policy.delay(retry)).isEqualTo(Duration.ofSeconds(seconds[retry]));
        }
    }

    @Test
    void aHighCountDoesNotOverflow() {
        RetryPolicy policy = new RetryPolicy(1, SECOND, Duration.ofDays(36_500), 0);
        assertThat(policy.delay(Integer.MAX_VALUE)).isEqualTo(Duration.ofDays(36_500));
    }

    @Test
    void jitterTakesOffARandomPartWithinItsBound() {
        RetryPolicy policy = new RetryPolicy(10, SECOND, Duration.ofSeconds(60), 0.25);
        long shortest = Long.MAX_VALUE;
        long longest = 0;
        for (int i = 0; i < 10_000; i++) {
            long millis = policy.delay(3).toMillis();
            shortest = Math.min(shortest, millis);
            longest = Math.max(longest, millis);
        }
        assertThat(shortest).isBetween(6000L, 6100L);
        assertThat(longest).isBetween(7900L, 8000L);
    }

    /** Messages that failed together do not come back together: the pauses lie all over the last fifth. */
    @Test
    @Shows("OBX-062")
    void theDefaultTakesOffAFifthAtMostAndSpreadsThePausesOverAllOfIt() {
        RetryPolicy policy = RetryPolicy.defaults();
        int[] seconds = {1, 2, 4, 8, 16, 32, 60, 60, 60};
        for (int retry = 0; retry < seconds.length; retry++) {
            long whole = Duration.ofSeconds(seconds[retry]).toNanos();
            int[] tenths = new int[10];
            for (int i = 0; i < 10_000; i++) {
                double left = (double) policy.delay(retry).toNanos() / whole;
                assertThat(left).isBetween(0.8, 1.0);
                tenths[(int) Math.min(9, (left - 0.8) * 50)]++;
            }
            assertThat(Arrays.stream(tenths)).as("of 10,000 pauses").allMatch(count -> count > 500);
        }
    }

    @Test
    void badValuesAreRefused() {
        for (double jitter : new double[] {-0.1, 1.1, Double.NaN}) {
            assertThatThrownBy(() -> RetryPolicy.defaults().withJitter(jitter))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("expected a jitter from 0 to 1, got " + jitter);
        }
        assertThatThrownBy(() -> RetryPolicy.defaults().withMaxAttempts(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected a positive number of attempts, got 0");
        assertThatThrownBy(() -> RetryPolicy.defaults().withBase(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected a positive base pause, got PT0S");
    }
}
