package dev.windlass.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Circuit;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import dev.windlass.internal.dispatch.Breaker.Effect;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class BreakerTest {
    private static final long REST = Duration.ofSeconds(30).toNanos();
    private static final int UNLIMITED = Integer.MAX_VALUE;
    private static final Result DONE = new Result.Done();
    private static final Result FAILED = new Result.Failed(new IllegalStateException("broken"));
    private static final Result STOPPED = new Result.Stopped();
    private static final Result REFUSED = new Result.Failed(new PermanentFailure("no such customer"));
    private static final Result PUT_OFF = new Result.Failed(new RetryAfter(Duration.ZERO, "closed for lunch"));

    /** As near to the end of the clock's range as a reading may come. */
    private long now = Long.MAX_VALUE - 1;

    private final Breaker breaker = new Breaker(new Circuit(3, Duration.ofNanos(REST)));

    private Effect run(Result result) {
        return breaker.ended(breaker.started(), result, now);
    }

    private void open() {
        assertThat(run(FAILED)).isEqualTo(Effect.NONE);
        assertThat(run(FAILED)).isEqualTo(Effect.NONE);
        assertThat(run(FAILED)).isEqualTo(Effect.OPENED);
    }

    @Test
    void opensAfterFailuresInARowAndTheLastOfThemDoesNotCount() {
        assertThat(breaker.allowance(now)).isEqualTo(UNLIMITED);
        open();
        assertThat(Effect.OPENED.isCounted()).isFalse();
        assertThat(breaker.isClosed()).isFalse();
        assertThat(breaker.allowance(now)).isZero();
        assertThat(breaker.restLeft(now)).isEqualTo(REST);
    }

    @Test
    void aSuccessBetweenBeginsTheRowAnew() {
        run(FAILED);
        run(FAILED);
        run(DONE);
        open();
    }

    @Test
    void whatAHandlerDecidesAboutOneMessageNeitherCountsNorEndsTheRow() {
        run(FAILED);
        run(REFUSED);
        run(PUT_OFF);
        run(STOPPED);
        run(FAILED);
        assertThat(breaker.isClosed()).isTrue();
        assertThat(run(FAILED)).isEqualTo(Effect.OPENED);
    }

    @Test
    void letsOneMessageStartWhenTheRestIsOver() {
        open();
        now += REST - 1;
        assertThat(breaker.allowance(now)).isZero();
        now += 1;
        assertThat(breaker.restLeft(now)).isZero();
        assertThat(breaker.allowance(now)).isEqualTo(1);
        breaker.started();
        assertThat(breaker.allowance(now)).isZero();
        assertThat(breaker.restLeft(now)).isZero();
        assertThat(breaker.isClosed()).isFalse();
    }

    @Test
    void aProbeThatSucceedsClosesIt() {
        open();
        now += REST;
        assertThat(run(DONE)).isEqualTo(Effect.CLOSED);
        assertThat(breaker.allowance(now)).isEqualTo(UNLIMITED);
        open();
    }

    @Test
    void aProbeThatFailsCostsNothingAndTheRestBeginsAnew() {
        open();
        for (int i = 0; i < 3; i++) {
            now += REST;
            assertThat(run(FAILED)).isEqualTo(Effect.RESTS_ON);
            assertThat(breaker.restLeft(now)).isEqualTo(REST);
        }
        assertThat(Effect.RESTS_ON.isCounted()).isFalse();
    }

    @Test
    void aProbeThatSaysNothingIsFollowedByAnotherAtOnce() {
        open();
        now += REST;
        for (Result result : new Result[] {REFUSED, PUT_OFF, STOPPED}) {
            assertThat(run(result)).isEqualTo(Effect.NONE);
            assertThat(breaker.isClosed()).isFalse();
            assertThat(breaker.allowance(now)).isEqualTo(1);
        }
    }

    @Test
    void attemptsFromBeforeTheOpeningDecideNothingAndTheirFailuresCostNothing() {
        int[] before = {breaker.started(), breaker.started(), breaker.started(), breaker.started()};
        open();
        assertThat(breaker.ended(before[0], FAILED, now)).isEqualTo(Effect.SPARED);
        assertThat(breaker.ended(before[1], DONE, now)).isEqualTo(Effect.NONE);
        assertThat(breaker.isClosed()).isFalse();
        assertThat(Effect.SPARED.isCounted()).isFalse();
        now += REST;
        int probe = breaker.started();
        assertThat(breaker.ended(before[2], FAILED, now)).isEqualTo(Effect.SPARED);
        assertThat(breaker.allowance(now)).as("the probe is still running").isZero();
        assertThat(breaker.ended(probe, DONE, now)).isEqualTo(Effect.CLOSED);
        run(FAILED);
        run(FAILED);
        assertThat(breaker.ended(before[3], FAILED, now)).isEqualTo(Effect.SPARED);
        assertThat(breaker.isClosed()).isTrue();
    }

    @Test
    void withoutACircuitNothingEverRests() {
        Breaker none = new Breaker(null);
        for (int i = 0; i < 1000; i++) {
            assertThat(none.ended(none.started(), FAILED, now)).isEqualTo(Effect.NONE);
        }
        assertThat(none.allowance(now)).isEqualTo(UNLIMITED);
        assertThat(none.restLeft(now)).isZero();
    }
}
