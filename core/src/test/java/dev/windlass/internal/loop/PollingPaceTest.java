package dev.windlass.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class PollingPaceTest {
    private boolean restsAtOnce;
    private int rests;
    private final PollingPace pace = new PollingPace(millis(250), () -> restsAtOnce, () -> rests++);

    private static Duration millis(long millis) {
        return Duration.ofMillis(millis);
    }

    @Test
    @Shows("OBX-122")
    void withoutWorkThePauseDoublesUntilTheLookoutTakesOver() {
        assertThat(pace.afterNothing()).isEqualTo(millis(250));
        assertThat(pace.afterNothing()).isEqualTo(millis(500));
        assertThat(pace.isResting()).isFalse();
        assertThat(pace.afterNothing()).isEqualTo(Loop.PARKED);
        assertThat(pace.isResting()).isTrue();
        assertThat(pace.afterNothing()).isEqualTo(Loop.PARKED);
        assertThat(rests).isEqualTo(1);
    }

    @Test
    @Shows("OBX-122")
    void workStartsItAnew() {
        pace.afterNothing();
        pace.afterNothing();
        pace.afterNothing();
        assertThat(pace.afterWork()).isEqualTo(millis(250));
        assertThat(pace.isResting()).isFalse();
        assertThat(pace.afterNothing()).isEqualTo(millis(500));
    }

    @Test
    void whoExpectsWorkLooksQuicklyAndThenStaysAtTheShortestPause() {
        pace.afterNothing();
        pace.expect();
        for (long expected : new long[] {5, 10, 20, 40, 80, 160, 250, 250, 250}) {
            assertThat(pace.afterNothing()).isEqualTo(millis(expected));
        }
        assertThat(pace.isResting()).isFalse();
    }

    @Test
    void expectedWorkThatCameDoesNotEndTheQuickLooks() {
        pace.expect();
        assertThat(pace.afterWork()).isEqualTo(millis(5));
        assertThat(pace.afterNothing()).isEqualTo(millis(10));
    }

    @Test
    void whoExpectsWorkNeverSleepsLong() {
        PollingPace sleepy = new PollingPace(Duration.ofMinutes(10), () -> false, () -> rests++);
        sleepy.expect();
        sleepy.afterNothing();
        assertThat(sleepy.afterWork()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void whereLooksAreDearTheLookoutTakesOverAtOnceUnlessWorkIsExpected() {
        restsAtOnce = true;
        pace.expect();
        assertThat(pace.afterNothing()).isEqualTo(millis(5));
        PollingPace quiet = new PollingPace(millis(250), () -> true, () -> rests++);
        assertThat(quiet.afterNothing()).isEqualTo(Loop.PARKED);
        assertThat(rests).isZero();
    }

    @Test
    void whereLooksAreDearTheLookoutIsToldOfWorkThatCame() {
        restsAtOnce = true;
        assertThat(pace.afterWork()).isEqualTo(Loop.PARKED);
        assertThat(pace.isResting()).isTrue();
        assertThat(rests).isEqualTo(1);
        pace.afterNothing();
        assertThat(rests).isEqualTo(1);
    }

    @Test
    void whoCannotClaimAnythingLeavesItToTheLookoutAtOnce() {
        pace.afterWork();
        assertThat(pace.rest()).isEqualTo(Loop.PARKED);
        assertThat(pace.isResting()).isTrue();
    }
}
