package dev.windlass.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class PollingPaceTest {
    private final PollingPace pace = new PollingPace(millis(250), millis(3000));

    private static Duration millis(long millis) {
        return Duration.ofMillis(millis);
    }

    @Test
    @Shows("OBX-122")
    void withoutWorkThePauseDoublesUpToTheLongest() {
        for (long expected : new long[] {250, 500, 1000, 2000, 3000, 3000}) {
            assertThat(pace.afterNothing()).isEqualTo(millis(expected));
        }
    }

    @Test
    @Shows("OBX-122")
    void workStartsItAnew() {
        pace.afterNothing();
        pace.afterNothing();
        assertThat(pace.afterWork()).isEqualTo(millis(250));
        assertThat(pace.afterNothing()).isEqualTo(millis(500));
    }

    @Test
    void whoExpectsWorkLooksQuicklyAndThenStaysAtTheShortestPause() {
        pace.afterNothing();
        pace.expect();
        for (long expected : new long[] {5, 10, 20, 40, 80, 160, 250, 250, 250}) {
            assertThat(pace.afterNothing()).isEqualTo(millis(expected));
        }
    }

    @Test
    void expectedWorkThatCameDoesNotEndTheQuickLooks() {
        pace.expect();
        assertThat(pace.afterWork()).isEqualTo(millis(5));
        assertThat(pace.afterNothing()).isEqualTo(millis(10));
    }

    @Test
    void aLowerLimitHoldsAtOnceAndAHigherOneAgain() {
        pace.afterNothing();
        pace.afterNothing();
        pace.limit(millis(100));
        assertThat(pace.afterNothing()).isEqualTo(millis(100));
        assertThat(pace.afterWork()).isEqualTo(millis(100));
        pace.limit(millis(3000));
        assertThat(pace.afterWork()).isEqualTo(millis(250));
    }
}
