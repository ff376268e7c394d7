package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.Feature;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.ScheduleOptions;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A job is created or changed, and found again as it was saved. */
@OnEveryEngine
final class SaveJobConformance extends JobsConformance {

    static Stream<Job> manyKinds() {
        Job cron = Job.cron("job", "30 2 * * MON-FRI", BERLIN).withTopic("report.run");
        Job every = Job.every("job", Duration.ofMinutes(90)).withTopic("report.run");
        return Stream.of(
                cron,
                every,
                Job.cron("job \"with\" '; drop table", "@daily", UTC).withTopic("täglich \uD83D\uDE00"),
                Job.cron("job", "0 0 12 1/5 * ?", java.time.ZoneOffset.ofHours(2))
                        .withTopic("t"),
                cron.withPayload("").withMisfire(Misfire.all(7)).withOverlap(Overlap.SKIP),
                cron.withPayload("{\"a\": [1, \"\\u0000\"]}").withMisfire(Misfire.skip()),
                every.withMisfire(Misfire.skip(Duration.ofMillis(1))).withJitter(Duration.ofDays(1)),
                every.withJitter(Duration.ofMillis(1500)),
                Job.every("job", Duration.ofDays(36_500))
                        .withTopic("t")
                        .withMisfire(Misfire.skip(Duration.ofDays(36_500))));
    }

    @ParameterizedTest
    @MethodSource("manyKinds")
    void aJobIsFoundAsItWasSaved(Job job) {
        jobs.save(job);
        JobState state = state(job.name());
        assertThat(state.job()).isEqualTo(job);
        assertThat(jobs.list()).containsExactly(state);
        assertThat(state.lastRun()).isEmpty();
        assertThat(state.problem()).isEmpty();
        assertThat(state.jobSet()).isEmpty();
        assertThat(state.pausedAt()).isEmpty();
        assertThat(state.skippedTicks()).isZero();
        assertThat(state.createdAt())
                .isEqualTo(state.updatedAt())
                .isBeforeOrEqualTo(database().now());
    }

    @ParameterizedTest
    @MethodSource("manyKinds")
    void savingItAgainChangesNothing(Job job) {
        jobs.save(job);
        JobState before = state(job.name());
        jobs.save(job);
        assertThat(state(job.name())).isEqualTo(before);
        assertThat(column(Long.class, "version", job.name())).isEqualTo(1);
    }

    @Test
    void theNextTickIsTheFirstOneAfterTheDatabasesNow() {
        jobs.save(Job.cron("job", "30 2 * * *", BERLIN).withTopic("t"));
        Instant next = state("job").nextTick().orElseThrow();
        ZonedDateTime local = next.atZone(BERLIN);
        assertThat(local.getHour() * 60 + local.getMinute()).isIn(150, 210); // 3:30 on the day of a gap
        assertThat(next).isBetween(database().now(), database().now().plus(Duration.ofHours(25)));
        assertThat(state("job").firesAt()).contains(next);
    }

    @Test
    void aPeriodIsCountedFromNow() {
        Instant before = database().now();
        jobs.save(Job.every("job", Duration.ofHours(3)).withTopic("t"));
        Instant after = database().now();
        assertThat(state("job").nextTick().orElseThrow())
                .isBetween(before.plus(Duration.ofHours(3)), after.plus(Duration.ofHours(3)));
    }

    @Test
    void ticksGoOnWhenOnlyOtherThingsChange() {
        Job job = Job.every("job", Duration.ofHours(3)).withTopic("t");
        jobs.save(job);
        Instant next = state("job").nextTick().orElseThrow();
        Instant anchor = time("anchor_at", "job");
        Job changed = job.withTopic("other")
                .withPayload("p")
                .withMisfire(Misfire.all(2))
                .withOverlap(Overlap.SKIP);
        jobs.save(changed);
        assertThat(state("job").job()).isEqualTo(changed);
        assertThat(state("job").nextTick()).contains(next);
        assertThat(time("anchor_at", "job")).isEqualTo(anchor);
        assertThat(column(Long.class, "version", "job")).isEqualTo(2);
        assertThat(state("job").updatedAt()).isAfter(state("job").createdAt());
    }

    @Test
    void ticksAreComputedAnewWhenTheTimesChange() {
        jobs.save(Job.cron("job", "0 12 1 1 *", BERLIN).withTopic("t"));
        Instant first = state("job").nextTick().orElseThrow();
        jobs.save(Job.cron("job", "0 12 1 1 *", UTC).withTopic("t"));
        assertThat(state("job").nextTick()).contains(first.plus(Duration.ofHours(1)));
        jobs.save(Job.every("job", Duration.ofDays(2)).withTopic("t"));
        assertThat(state("job").nextTick().orElseThrow())
                .isBefore(database().now().plus(Duration.ofDays(3)));
    }

    @Test
    void aChangedJobStaysPausedAndKeepsItsHistory() {
        jobs.save(rare("job"));
        JobRun run = jobs.trigger("job");
        jobs.pause("job");
        jobs.save(Job.every("job", Duration.ofDays(2)).withTopic("t"));
        assertThat(state("job").isPaused()).isTrue();
        assertThat(state("job").nextTick()).isEmpty();
        assertThat(state("job").lastRun()).map(JobRun::id).contains(run.id());
    }

    @Test
    void aJobOfTheCallersTransactionExistsWhenHeCommits() throws Exception {
        Windlass node = node();
        try (Connection connection = database().transaction()) {
            node.jobs().save(connection, rare("rolled back"));
            connection.rollback();
            node.jobs().save(connection, rare("job"));
            assertThat(jobs.list()).isEmpty();
            connection.commit();
        }
        assertThat(jobs.list()).extracting(JobState::name).containsExactly("job");
        node.inTransaction(connection -> {
            node.jobs().delete(connection, "job");
            return true;
        });
        assertThat(jobs.list()).isEmpty();
    }

    @Test
    void jobsAreListedByName() {
        Stream.of("b", "a", "B", "ä", "a b").forEach(name -> jobs.save(rare(name)));
        assertThat(jobs.list()).extracting(JobState::name).containsExactly("B", "a", "a b", "b", "ä");
        assertThat(jobs.find("c")).isEqualTo(Optional.empty());
    }

    @Test
    void aSavedJobClearsTheProblem() {
        jobs.save(rare("job"));
        database()
                .update("update %s.outbox_job set problem = 'broken', fires_at = "
                        + database().plus("fires_at", Duration.ofHours(1)));
        jobs.save(rare("job"));
        assertThat(state("job").problem()).isEmpty();
        assertThat(state("job").firesAt()).isEqualTo(state("job").nextTick());
    }

    @Test
    void aSmallerJitterBoundsATickThatIsPlannedAlready() {
        Job job = rare("job");
        jobs.save(job.withJitter(Duration.ofHours(20)));
        database()
                .update("update %s.outbox_job set fires_at = " + database().plus("next_tick_at", Duration.ofHours(20)));
        jobs.save(job.withJitter(Duration.ofHours(1)));
        assertThat(state("job").firesAt())
                .contains(state("job").nextTick().orElseThrow().plus(Duration.ofHours(1)));
    }

    /** It looks when it begins, and a second after it hears what is said; and then, without timers to hand off, for ten minutes no more. */
    @Test
    void aNodeThatSleepsHearsOfAJobSavedByAnother() throws Exception {
        database()
                .start(database()
                        .windlass()
                        .only(Feature.OUTBOX, Feature.SCHEDULE)
                        .options(database().options().withMaxPollingInterval(Duration.ofMinutes(10)))
                        .outbox(OutboxOptions.defaults().withLease(Duration.ofHours(1)))
                        .schedule(ScheduleOptions.defaults().withHandOff(false).withLease(Duration.ofHours(1))));
        Thread.sleep(2000);
        jobs.save(Job.every("late", Duration.ofDays(1)).withTopic("late"));
        jobs.save(Job.every("job", Duration.ofSeconds(1)).withTopic("topic"));
        eventually().until(() -> runs("source = 'job'") > 0);
    }
}
