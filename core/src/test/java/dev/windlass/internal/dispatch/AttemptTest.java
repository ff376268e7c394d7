package dev.windlass.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.HandlerOptions;
import dev.windlass.base.Overtime;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.Ranking;
import dev.windlass.internal.queue.WorkStore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AttemptTest {
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    private static Attempt<String> attempt(Overtime overtime, long leaseNanos) {
        Handling<String> handling = new Handling<>(
                (message, cancellation) -> {}, HandlerOptions.defaults().withOvertime(overtime));
        return new Attempt<>(
                TestNode.message("a", 0, 0, 0, 1),
                new TopicLane<>("a", handling, 1, Ranking.NONE),
                System.nanoTime() + leaseNanos);
    }

    @Test
    void itIsCancelledAsSoonAsItsLeaseHasRunOutWhoeverLooksFirst() {
        assertThat(attempt(Overtime.GIVE_UP, HOUR).isCancelled()).isFalse();
        Attempt<String> attempt = attempt(Overtime.GIVE_UP, -1);
        attempt.begin();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(attempt.isCancelled()).isTrue();
        assertThat(attempt.isCancelled(Attempt.Reason.LEASE_LOST)).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(attempt.tellsOfLapse()).isTrue();
        assertThat(attempt.tellsOfLapse()).isFalse();
    }

    @Test
    void aRenewalThatComesTooLateDoesNotTakeTheCancellationBack() {
        Attempt<String> attempt = attempt(Overtime.GIVE_UP, -1);
        assertThat(attempt.isCancelled()).isTrue();
        attempt.renewed(System.nanoTime() + HOUR);
        assertThat(attempt.isCancelled()).isTrue();
        assertThat(attempt.keepsLease()).isFalse();
    }

    @Test
    void aRenewalThatComesBeforeAnybodyLooksIsInTime() {
        Attempt<String> attempt = attempt(Overtime.GIVE_UP, -1);
        attempt.renewed(System.nanoTime() + HOUR);
        assertThat(attempt.isCancelled()).isFalse();
        assertThat(attempt.tellsOfLapse()).isFalse();
    }

    @Test
    void afterItsTimeOutTheLeaseGoesOnOnlyIfTheMessageIsHeld() {
        for (Overtime overtime : Overtime.values()) {
            Attempt<String> attempt = attempt(overtime, HOUR);
            assertThat(attempt.keepsLease()).isTrue();
            attempt.cancel(Attempt.Reason.TIMED_OUT);
            assertThat(attempt.keepsLease()).isEqualTo(overtime == Overtime.HOLD);
        }
        Attempt<String> lost = attempt(Overtime.HOLD, HOUR);
        lost.cancel(Attempt.Reason.LEASE_LOST);
        assertThat(lost.keepsLease()).isFalse();
    }

    @Test
    void whatHasEndedNeedsNoMemoryForItsContent() {
        Attempt<String> attempt = attempt(Overtime.GIVE_UP, HOUR);
        Claimed<String> before = attempt.claimed;
        assertThat(before.message()).isEqualTo("x");
        attempt.conclude();
        assertThat(attempt.claimed.message()).isNull();
        assertThat(attempt.held()).isEqualTo(new WorkStore.Held(before.id(), before.owner(), before.ordered()));
        assertThat(attempt.claimed.size()).isEqualTo(before.size());
    }

    @Test
    void onlyWhatExpiredBeforeIsMarkedAndOnlyWhatExpiredAfterItsMarkIsSuspect() {
        TopicLane<String> lane = new TopicLane<>(
                "a", new Handling<>((message, cancellation) -> {}, HandlerOptions.defaults()), 1, Ranking.NONE);
        long until = System.nanoTime() + HOUR;
        Attempt<String> fresh = new Attempt<>(TestNode.message("a", 0, 0, 0, 1), lane, until);
        Attempt<String> expired = new Attempt<>(TestNode.message("a", 0, 7, 0, 1), lane, until);
        Attempt<String> crashed = new Attempt<>(TestNode.message("a", 0, 2, 1, 1), lane, until);
        assertThat(fresh.isMarkedAtStart() || fresh.isSuspect()).isFalse();
        assertThat(expired.isMarkedAtStart() && !expired.isSuspect()).isTrue();
        assertThat(crashed.isMarkedAtStart() && crashed.isSuspect()).isTrue();
    }
}
