package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.WindlassException;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class JobPlanTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final ZoneId UTC = ZoneId.of("UTC");
    private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");
    private static final Ticks MINUTES = cron("* * * * *", UTC);
    private static final Ticks SECONDS = cron("* * * * * *", UTC);

    private static Ticks cron(String expression, ZoneId zone) {
        return Ticks.of(Schedule.Cron.parse(expression, zone), null);
    }

    private static JobPlan plan(Ticks ticks, Misfire misfire, Duration late) {
        return JobPlan.of(ticks, misfire, NOON, Duration.ZERO, NOON.plus(late));
    }

    private static Instant minute(int number) {
        return NOON.plus(Duration.ofMinutes(number));
    }

    @Test
    void aTickInTimeMakesOneRunWhateverTheRule() {
        for (Misfire rule : List.of(Misfire.once(), Misfire.all(5), Misfire.skip())) {
            assertThat(plan(MINUTES, rule, Duration.ofMillis(3))).isEqualTo(new JobPlan(List.of(NOON), 0, minute(1)));
        }
    }

    @Test
    void onceRunsForTheLatestOfTheMissedTicks() {
        assertThat(plan(MINUTES, Misfire.once(), Duration.ofSeconds(200)))
                .isEqualTo(new JobPlan(List.of(minute(3)), 3, minute(4)));
    }

    @Test
    void aTickAtThisVeryMomentIsDue() {
        assertThat(plan(MINUTES, Misfire.once(), Duration.ofMinutes(3)))
                .isEqualTo(new JobPlan(List.of(minute(3)), 3, minute(4)));
    }

    @Test
    void allRunsForEachOfTheLatestTheOldestFirst() {
        assertThat(plan(MINUTES, Misfire.all(10), Duration.ofSeconds(200)))
                .isEqualTo(new JobPlan(List.of(NOON, minute(1), minute(2), minute(3)), 0, minute(4)));
        assertThat(plan(MINUTES, Misfire.all(4), Duration.ofSeconds(200)).runs())
                .hasSize(4);
        assertThat(plan(MINUTES, Misfire.all(2), Duration.ofSeconds(200)))
                .isEqualTo(new JobPlan(List.of(minute(2), minute(3)), 2, minute(4)));
    }

    @Test
    void skipRunsOnlyIfTheLatestTickIsNotTooLate() {
        Misfire rule = Misfire.skip(Duration.ofSeconds(10));
        assertThat(plan(MINUTES, rule, Duration.ofSeconds(190)))
                .isEqualTo(new JobPlan(List.of(minute(3)), 3, minute(4)));
        assertThat(plan(MINUTES, rule, Duration.ofSeconds(190).plusNanos(1)))
                .isEqualTo(new JobPlan(List.of(), 4, minute(4)));
        assertThat(plan(cron("0 12 * * *", UTC), Misfire.skip(), Duration.ofSeconds(61)))
                .isEqualTo(new JobPlan(List.of(), 1, NOON.plus(Duration.ofDays(1))));
    }

    @Test
    void aWeekOfMissedSecondsIsPlannedWithoutCountingThemAll() {
        JobPlan plan = plan(SECONDS, Misfire.all(3), Duration.ofDays(7));
        Instant end = NOON.plus(Duration.ofDays(7));
        assertThat(plan.runs()).containsExactly(end.minusSeconds(2), end.minusSeconds(1), end);
        assertThat(plan.skipped()).isEqualTo(10_001 - 3);
        assertThat(plan.next()).isEqualTo(end.plusSeconds(1));
    }

    @Test
    void aPeriodCountsExactlyHoweverLongTheOutage() {
        Ticks ticks = Ticks.of(new Schedule.Every(Duration.ofSeconds(1)), NOON.minusSeconds(1));
        JobPlan plan = plan(ticks, Misfire.once(), Duration.ofDays(700));
        assertThat(plan.skipped()).isEqualTo(Duration.ofDays(700).toSeconds());
        assertThat(plan.runs()).containsExactly(NOON.plus(Duration.ofDays(700)));
    }

    @Test
    void aPeriodKeepsItsPhase() {
        Instant anchor = NOON.minusMillis(1234);
        Ticks ticks = Ticks.of(new Schedule.Every(Duration.ofMillis(1500)), anchor);
        assertThat(ticks.next(anchor.minusSeconds(100))).isEqualTo(anchor.plusMillis(1500));
        assertThat(ticks.next(anchor)).isEqualTo(anchor.plusMillis(1500));
        assertThat(ticks.next(anchor.plusMillis(1500))).isEqualTo(anchor.plusMillis(3000));
        assertThat(ticks.next(anchor.plusMillis(1499))).isEqualTo(anchor.plusMillis(1500));
        assertThat(ticks.previous(anchor.plusMillis(1500))).isEmpty();
        assertThat(ticks.previous(anchor.plusMillis(1501))).contains(anchor.plusMillis(1500));
        assertThat(ticks.count(anchor, anchor.plusMillis(4500), 1)).isEqualTo(3);
    }

    @Test
    void whatIsAsLateAsItsJitterIsInTime() {
        JobPlan plan = JobPlan.of(
                SECONDS,
                Misfire.once(),
                NOON,
                Duration.ofSeconds(30),
                NOON.plusSeconds(30).plusMillis(5));
        assertThat(plan).isEqualTo(new JobPlan(List.of(NOON), 0, NOON.plusSeconds(1)));
        JobPlan skipping = JobPlan.of(MINUTES, Misfire.skip(), NOON, Duration.ofSeconds(90), NOON.plusSeconds(100));
        assertThat(skipping.runs()).containsExactly(NOON);
    }

    @Test
    void aJitterLongerThanThePeriodLosesNoTick() {
        Random random = new Random(42);
        Duration jitter = Duration.ofSeconds(10);
        Instant tick = NOON;
        Instant firesAt = NOON.plusSeconds(7);
        Instant now = NOON;
        List<Instant> expected =
                LongStream.range(0, 500).mapToObj(NOON::plusSeconds).toList();
        for (Instant wanted : expected) {
            now = (firesAt.isAfter(now) ? firesAt : now).plusMillis(random.nextInt(20));
            JobPlan plan = JobPlan.of(SECONDS, Misfire.once(), tick, Duration.between(tick, firesAt), now);
            assertThat(plan.runs()).containsExactly(wanted);
            assertThat(plan.skipped()).isZero();
            tick = plan.next();
            firesAt = JobPlan.firesAt(tick, Duration.ofMillis(random.nextInt(10_001)), now);
            assertThat(Duration.between(tick, firesAt)).isBetween(Duration.ZERO, jitter);
        }
    }

    @Test
    void aTickThatTheTimesDoNotNameRunsAsWell() {
        Instant odd = NOON.minusSeconds(30);
        assertThat(JobPlan.of(MINUTES, Misfire.all(5), odd, Duration.ZERO, NOON.plusSeconds(61)))
                .isEqualTo(new JobPlan(List.of(odd, NOON, minute(1)), 0, minute(2)));
        assertThat(JobPlan.of(MINUTES, Misfire.all(5), odd, Duration.ZERO, odd.plusSeconds(1)))
                .isEqualTo(new JobPlan(List.of(odd), 0, NOON));
    }

    @Test
    void aJobInTheGapOfTheClocksRunsOnceThatDay() {
        Ticks ticks = cron("30 2 * * *", BERLIN);
        Instant before = local("2027-03-27T02:30");
        JobPlan first = JobPlan.of(ticks, Misfire.once(), before, Duration.ZERO, before);
        assertThat(first.next()).isEqualTo(Instant.parse("2027-03-28T01:30:00Z")); // 3:30 in Berlin
        JobPlan second = JobPlan.of(ticks, Misfire.once(), first.next(), Duration.ZERO, first.next());
        assertThat(second.next()).isEqualTo(local("2027-03-29T02:30"));
        JobPlan missed = JobPlan.of(ticks, Misfire.all(10), before, Duration.ZERO, local("2027-03-29T12:00"));
        assertThat(missed.runs()).containsExactly(before, first.next(), second.next());
    }

    private static Instant local(String time) {
        return LocalDateTime.parse(time).atZone(BERLIN).toInstant();
    }

    @Test
    void timesThatNobodyUnderstandsHaveNoTicks() {
        Schedule unreadable = new Schedule.Unreadable("every full moon", "Mars/Olympus", "not on this planet");
        assertThatThrownBy(() -> Ticks.of(unreadable, null))
                .isInstanceOf(WindlassException.class)
                .hasMessage("not on this planet");
    }
}
