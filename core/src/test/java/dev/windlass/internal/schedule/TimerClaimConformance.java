package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.TimerOperator;
import dev.windlass.schedule.Timers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Programs that handle timers themselves. */
@OnEveryEngine
final class TimerClaimConformance extends TimerConformance {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private final OwnerToken owner = OwnerToken.fresh();
    private final OwnerToken other = OwnerToken.fresh();

    @Test
    void dueTimersAreClaimedOnceAndWhole() {
        TimerIdentifier due = timers.schedule(TimerEntry.of("a", "payload", PAST));
        timers.schedule(TimerEntry.of("a", "", FAR));

        List<Timer> claimed = timers.claim(owner, LEASE, 10);

        assertThat(claimed).extracting(Timer::id).containsExactly(due);
        assertThat(claimed.get(0).payload()).isEqualTo("payload");
        assertThat(claimed.get(0).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(timers.claim(other, LEASE, 10)).isEmpty();
        assertThat(handOff(10)).isZero();
        assertThat(timers.cancel(due)).isFalse();
        assertThat(timers.reschedule(due, FAR)).isFalse();
    }

    @Test
    void aClaimTakesTheOldestFirstAndNoMoreThanAsked() {
        TimerIdentifier second = timers.schedule(TimerEntry.of("a", "", PAST));
        TimerIdentifier first = timers.schedule(TimerEntry.of("a", "", PAST));
        database()
                .update(
                        "update %s.outbox_timer set next_attempt_at = ? where id = ?",
                        PAST.minus(Duration.ofHours(1)), first.value());

        assertThat(timers.claim(owner, LEASE, 1)).extracting(Timer::id).containsExactly(first);
        assertThat(timers.claim(owner, LEASE, 1)).extracting(Timer::id).containsExactly(second);
    }

    @Test
    void onlyTheOwnerEndsATimer() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);

        assertThat(timers.ack(other, List.of(id))).isZero();
        assertThat(timers.abandon(other, List.of(id))).isZero();
        assertThat(timers.ack(owner, List.of(id, id))).isEqualTo(1);
        assertThat(timers.ack(owner, List.of(id))).isZero();
        assertThat(timers.find(id)).isEmpty();
        assertThat(count("outbox")).isZero();
        assertThat(timers.ack(owner, List.of())).isZero();
    }

    @Test
    void anAbandonedTimerWaitsAndRemembersWhy() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);

        assertThat(timers.abandon(owner, List.of(id), Duration.ofHours(1), "e".repeat(3000)))
                .isEqualTo(1);

        Timer timer = timers.find(id).orElseThrow();
        assertThat(timer.status()).isEqualTo(WorkStatus.READY);
        assertThat(timer.retryCount()).isEqualTo(1);
        assertThat(timer.dueTime()).isEqualTo(PAST);
        assertThat(timer.nextAttempt()).isAfter(database().now().plusSeconds(3000));
        assertThat(timer.lastError().orElseThrow()).hasSize(2048);
        assertThat(timers.claim(owner, LEASE, 10)).isEmpty();
        assertThat(timers.cancel(id)).isTrue();
    }

    @Test
    void aTimerThatWasGivenUpStaysUntilItIsRequeuedOrPurged() {
        TimerIdentifier moved = timers.schedule(TimerEntry.of("a", "", PAST));
        TimerIdentifier cancelled = timers.schedule(TimerEntry.of("a", "", PAST));
        TimerOperator operator = timers.operator("me");
        timers.claim(owner, LEASE, 10);

        assertThat(timers.fail(other, List.of(moved), "no")).isZero();
        assertThat(timers.fail(owner, List.of(moved, cancelled), "no")).isEqualTo(2);

        assertThat(operator.list(MessageFilter.failed(), 10)).hasSize(2);
        assertThat(timers.failures(moved))
                .extracting(attempt -> attempt.error().orElseThrow())
                .containsExactly("no");
        assertThat(timers.find(moved).orElseThrow().lastError()).contains("no");
        assertThat(timers.claim(owner, LEASE, 10)).isEmpty();
        assertThat(handOff(10)).isZero();
        assertThat(timers.cancel(cancelled)).isFalse();
        assertThat(timers.reschedule(moved, PAST)).isFalse();
        assertThat(operator.purge(List.of(cancelled))).isEqualTo(1);
        assertThat(timers.find(cancelled)).isEmpty();
        assertThat(operator.requeue(List.of(moved), Attempts.RESET)).isEqualTo(1);
        assertThat(timers.find(moved).orElseThrow().status()).isEqualTo(WorkStatus.READY);
        assertThat(handOff(10)).isEqualTo(1);
        assertThat(count("outbox_timer_failure")).isZero();
    }

    @Test
    void aTimerThatWasGivenUpDoesNotComeBackBesideAnotherOfItsKey() {
        TimerIdentifier failed = timers.schedule(TimerEntry.of("a", "old", PAST).replacing("k"));
        timers.claim(owner, LEASE, 10);
        timers.fail(owner, List.of(failed), "no");
        TimerIdentifier next = timers.schedule(TimerEntry.of("a", "new", PAST).replacing("k"));

        assertThat(next).isNotEqualTo(failed);
        TimerOperator operator = timers.operator("me");
        assertThat(operator.requeue(List.of(failed), Attempts.RESET)).isZero();
        assertThat(timers.find(failed).orElseThrow().status()).isEqualTo(WorkStatus.FAILED);

        timers.cancel(next);
        assertThat(operator.requeue(List.of(failed), Attempts.RESET)).isEqualTo(1);
        assertThat(timers.claim(owner, LEASE, 10)).extracting(Timer::payload).containsExactly("old");
    }

    @Test
    void whoIsNotDoneInTimeRenewsAndWhoHasNotBegunGivesBack() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);
        database()
                .update(
                        "update %s.outbox_timer set locked_until = ?",
                        database().now().plusSeconds(1));

        assertThat(timers.heartbeat(other, List.of(id), LEASE)).isZero();
        assertThat(timers.heartbeat(owner, List.of(id), LEASE)).isEqualTo(1);
        assertThat(database().value(Instant.class, "select locked_until from %s.outbox_timer"))
                .isAfter(database().now().plusSeconds(60));
        assertThat(timers.release(other, List.of(id))).isZero();
        assertThat(timers.release(owner, List.of(id))).isEqualTo(1);
        assertThat(timers.claim(other, LEASE, 10)).extracting(Timer::retryCount).containsExactly(0);
    }

    @Test
    void whatIsHandedOffAfterFailedAttemptsLeavesNothingBehind() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);
        timers.abandon(owner, List.of(id), Duration.ZERO, "no");
        assertThat(count("outbox_timer_failure")).isEqualTo(1);

        assertThat(handOff(10)).isEqualTo(1);

        assertThat(count("outbox_timer_failure")).isZero();
    }

    @Test
    void aTimerThatReplacesAnotherHasNoPast() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "old", PAST).replacing("k"));
        timers.claim(owner, LEASE, 10);
        timers.abandon(owner, List.of(id), Duration.ZERO, "no");

        assertThat(timers.schedule(TimerEntry.of("a", "new", PAST).replacing("k")))
                .isEqualTo(id);

        assertThat(timers.find(id).orElseThrow().retryCount()).isZero();
        assertThat(count("outbox_timer_failure")).isZero();
    }

    @Test
    void thePauseAfterAFailedAttemptDoublesUpToAMinute() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        for (int seconds : new int[] {1, 2, 4, 8, 16, 32, 60, 60}) {
            timers.claim(owner, LEASE, 10);
            timers.abandon(owner, List.of(id));
            Duration pause = Duration.between(
                    database().now(), timers.find(id).orElseThrow().nextAttempt());
            assertThat(pause).isLessThanOrEqualTo(Duration.ofSeconds(seconds));
            assertThat(pause).isGreaterThan(Duration.ofSeconds(seconds / 2).minusSeconds(30));
            database()
                    .update(
                            "update %s.outbox_timer set next_attempt_at = ? where id = ?",
                            database().now(), id.value());
        }
    }

    @Test
    void aLeaseThatRanOutIsTakenBack() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);
        assertThat(timers.reapExpired()).isZero();
        database()
                .update(
                        "update %s.outbox_timer set locked_until = ?",
                        database().now().minusSeconds(1));
        Timers quiet = database()
                .start(database()
                        .windlass()
                        .schedule(ScheduleOptions.defaults().withLease(Duration.ofMillis(1)))
                        .options(database().options().withBackgroundWorkers(false)))
                .timers();

        assertThat(quiet.reapExpired()).isEqualTo(1);

        Timer timer = timers.find(id).orElseThrow();
        assertThat(timer.leaseExpiries()).isEqualTo(1);
        assertThat(timer.retryCount()).isZero();
        assertThat(timers.ack(owner, List.of(id))).isZero();
        assertThat(timers.claim(other, LEASE, 10)).extracting(Timer::id).containsExactly(id);
    }

    @Test
    void aTimerThatIsReplacedWhileItIsHandledIsDueOnceMore() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "one", PAST).replacing("k"));
        timers.claim(owner, LEASE, 10);
        assertThat(timers.schedule(TimerEntry.of("a", "kept", FAR).ifAbsent("k")))
                .isEqualTo(id);
        assertThat(timers.find(id).orElseThrow().status()).isEqualTo(WorkStatus.IN_PROGRESS);

        timers.schedule(TimerEntry.of("a", "two", PAST).replacing("k"));

        assertThat(timers.ack(owner, List.of(id))).isZero();
        assertThat(timers.claim(other, LEASE, 10)).extracting(Timer::payload).containsExactly("two");
    }

    /** Of two that failed under one key, one comes back; those behind them are not forgotten. */
    @Test
    void allTimersThatFailedAreRequeuedButOneOfEachKey() {
        for (int n = 0; n < 3; n++) {
            timers.schedule(TimerEntry.of("a", "k" + n, PAST).replacing("k"));
            List<TimerIdentifier> ids =
                    timers.claim(owner, LEASE, 10).stream().map(Timer::id).toList();
            timers.fail(owner, ids, "no");
        }
        TimerIdentifier last = timers.schedule(TimerEntry.of("b", "", PAST));
        timers.claim(owner, LEASE, 10);
        timers.fail(owner, List.of(last), "no");

        assertThat(timers.operator("me").requeue(MessageFilter.failed(), Attempts.KEEP))
                .isEqualTo(2);

        assertThat(timers.operator("me").list(MessageFilter.failed(), 10)).hasSize(2);
        assertThat(timers.claim(owner, LEASE, 10)).hasSize(2);
    }

    /** A pause is for those who claim. */
    @Test
    void aPausedTopicIsNotClaimedButHandedOff() {
        timers.schedule(TimerEntry.of("paused", "", PAST));
        TimerIdentifier other = timers.schedule(TimerEntry.of("other", "", PAST));
        TimerOperator operator = timers.operator("me");
        assertThat(operator.pause("paused", "why")).isTrue();
        assertThat(operator.pausedTopics()).hasSize(1);
        assertThat(writer.outbox().operator("me").pausedTopics())
                .as("of another queue")
                .isEmpty();

        assertThat(timers.claim(owner, LEASE, 10)).extracting(Timer::id).containsExactly(other);
        assertThat(handOff(10)).isEqualTo(1);

        assertThat(operator.resume("paused")).isTrue();
        timers.schedule(TimerEntry.of("paused", "", PAST));
        assertThat(timers.claim(owner, LEASE, 10)).hasSize(1);
        assertThat(operator.actions(10)).extracting(OperatorAction::verb).containsExactly("resume", "pause");
        assertThat(operator.actions(10)).extracting(OperatorAction::by).containsOnly("me");
    }

    @Test
    void aFailedTimersContentCanBeErasedForGood() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "secret", PAST));
        TimerOperator operator = timers.operator("me");
        assertThat(operator.erase(List.of(id))).isZero();
        timers.claim(owner, LEASE, 10);
        timers.fail(owner, List.of(id), "no");
        assertThat(operator.erase(List.of(id))).isEqualTo(1);
        assertThat(timers.find(id).orElseThrow().payload()).isEmpty();
        assertThat(operator.requeue(List.of(id), Attempts.RESET)).isZero();
        assertThat(operator.list(MessageFilter.failed(), 10)).allMatch(ListedTimer::isErased);
    }
}
