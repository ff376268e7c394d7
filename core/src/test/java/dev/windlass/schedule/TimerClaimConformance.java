package dev.windlass.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OwnerToken;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Programs that handle timers themselves. */
abstract class TimerClaimConformance extends TimerConformance {
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
        assertThat(claimed.get(0).claimed()).isTrue();
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
                        "update %s.outbox_timer set next_attempt_at = next_attempt_at - interval '1 hour' where id = ?",
                        first.value());

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
        assertThat(timer.claimed()).isFalse();
        assertThat(timer.retryCount()).isEqualTo(1);
        assertThat(timer.dueTime()).isEqualTo(PAST);
        assertThat(timer.nextAttempt()).isAfter(database().now().plusSeconds(3000));
        assertThat(timer.lastError().orElseThrow()).hasSize(2048);
        assertThat(timers.claim(owner, LEASE, 10)).isEmpty();
        assertThat(timers.cancel(id)).isTrue();
    }

    @Test
    void aTimerThatWasGivenUpStaysUntilItIsMovedOrCancelled() {
        TimerIdentifier moved = timers.schedule(TimerEntry.of("a", "", PAST));
        TimerIdentifier cancelled = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);

        assertThat(timers.fail(other, List.of(moved), "no")).isZero();
        assertThat(timers.fail(owner, List.of(moved, cancelled), "no")).isEqualTo(2);

        assertThat(timers.list("a", 10, null))
                .hasSize(2)
                .allMatch(Timer::failed)
                .noneMatch(Timer::claimed);
        assertThat(timers.find(moved).orElseThrow().lastError()).contains("no");
        assertThat(timers.claim(owner, LEASE, 10)).isEmpty();
        assertThat(handOff(10)).isZero();
        assertThat(timers.cancel(cancelled)).isTrue();
        assertThat(timers.reschedule(moved, PAST)).isTrue();
        assertThat(timers.find(moved).orElseThrow().failed()).isFalse();
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
        assertThat(timers.reschedule(failed, PAST)).isFalse();
        assertThat(timers.find(failed).orElseThrow().failed()).isTrue();
    }

    @Test
    void whoIsNotDoneInTimeRenewsAndWhoHasNotBegunGivesBack() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);
        database().update("update %s.outbox_timer set locked_until = clock_timestamp() + interval '1 second'");

        assertThat(timers.heartbeat(other, List.of(id), LEASE)).isZero();
        assertThat(timers.heartbeat(owner, List.of(id), LEASE)).isEqualTo(1);
        assertThat(database()
                        .value(
                                Boolean.class,
                                "select locked_until > clock_timestamp() + interval '1 minute' from %s.outbox_timer"))
                .isTrue();
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
                    .update("update %s.outbox_timer set next_attempt_at = clock_timestamp() where id = ?", id.value());
        }
    }

    @Test
    void aLeaseThatRanOutIsTakenBack() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        timers.claim(owner, LEASE, 10);
        assertThat(timers.reapExpired()).isZero();
        database().update("update %s.outbox_timer set locked_until = clock_timestamp() - interval '1 s'");
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
        assertThat(timers.find(id).orElseThrow().claimed()).isTrue();

        timers.schedule(TimerEntry.of("a", "two", PAST).replacing("k"));

        assertThat(timers.ack(owner, List.of(id))).isZero();
        assertThat(timers.claim(other, LEASE, 10)).extracting(Timer::payload).containsExactly("two");
    }
}
