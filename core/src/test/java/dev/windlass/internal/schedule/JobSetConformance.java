package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A program brings its jobs along, and the greatest revision stands. */
@OnEveryEngine
final class JobSetConformance extends JobsConformance {

    private Windlass start(JobSet... sets) {
        WindlassBuilder builder =
                database().windlass().options(database().options().withBackgroundWorkers(false));
        for (JobSet set : sets) {
            builder.jobs(set);
        }
        return database().start(builder);
    }

    private static JobSet billing(long revision, Job... more) {
        return JobSet.of("billing", revision).with(more);
    }

    private List<String> names() {
        return jobs.list().stream().map(JobState::name).toList();
    }

    @Test
    void jobsAreAddedChangedAndRemoved() {
        jobs.save(rare("not of the set"));
        start(billing(1, rare("stays"), rare("changes"), rare("goes").withPayload("\u20AC \"quoted\" \\ \n")));
        assertThat(names()).containsExactly("changes", "goes", "not of the set", "stays");
        assertThat(state("stays").jobSet()).contains("billing");
        assertThat(state("not of the set").jobSet()).isEmpty();
        assertThat(state("goes").job()).isEqualTo(rare("goes").withPayload("\u20AC \"quoted\" \\ \n"));
        JobState stays = state("stays");
        Instant next = state("changes").nextTick().orElseThrow();
        JobRun pending = jobs.trigger("goes");

        start(billing(
                2,
                rare("stays"),
                rare("changes").withTopic("other").withMisfire(Misfire.all(3)).withOverlap(Overlap.SKIP),
                Job.every("new", java.time.Duration.ofDays(1)).withTopic("t").withMisfire(Misfire.skip())));
        assertThat(names()).containsExactly("changes", "new", "not of the set", "stays");
        assertThat(state("stays")).isEqualTo(stays);
        assertThat(state("changes").job())
                .isEqualTo(rare("changes")
                        .withTopic("other")
                        .withMisfire(Misfire.all(3))
                        .withOverlap(Overlap.SKIP));
        assertThat(state("changes").nextTick()).contains(next);
        assertThat(state("new").job())
                .isEqualTo(Job.every("new", java.time.Duration.ofDays(1))
                        .withTopic("t")
                        .withMisfire(Misfire.skip()));
        assertThat(jobs.findRun(pending.id()).orElseThrow().status()).isEqualTo(WorkStatus.CANCELLED);

        start(billing(3));
        assertThat(names()).containsExactly("not of the set");
    }

    @Test
    void oldAndNewNodesOfARollingDeployDoNotUndoEachOther() {
        JobSet old = billing(7, rare("kept"), rare("old"));
        JobSet newer = billing(8, rare("kept").withPayload("new"), rare("new"));
        start(old);
        start(newer);
        List<JobState> then = jobs.list();
        try (Logs logs = Logs.collect(Level.INFO)) {
            start(old);
            start(newer);
            start(old);
            assertThat(logs.count(Level.INFO, "are at revision 8, newer than 7"))
                    .isEqualTo(2);
        }
        assertThat(jobs.list()).isEqualTo(then);
        assertThat(names()).containsExactly("kept", "new");
    }

    @Test
    void aChangeWithoutANewRevisionIsWarnedOfAndLeftOut() {
        start(billing(1, rare("a"), rare("b")));
        try (Logs logs = Logs.collect(Level.WARN)) {
            start(billing(1, rare("b"), rare("a")));
            assertThat(logs.lines()).isEmpty();
            start(billing(1, rare("a"), rare("b").withPayload("changed")));
            assertThat(logs.count(Level.WARN, "increase the revision")).isEqualTo(1);
        }
        assertThat(state("b").job()).isEqualTo(rare("b"));
    }

    @Test
    void aJobThatBelongsToNobodyIsAdopted() {
        jobs.save(rare("job"));
        JobState before = state("job");
        start(billing(1, rare("job")));
        assertThat(state("job").jobSet()).contains("billing");
        assertThat(state("job").nextTick()).isEqualTo(before.nextTick());
        jobs.save(rare("job").withPayload("by hand"));
        assertThat(state("job").jobSet()).contains("billing");
        start(billing(2));
        assertThat(names()).isEmpty();
    }

    @Test
    void aJobOfAnotherSetIsRefusedAndNothingIsWritten() {
        start(billing(1, rare("shared")));
        assertThatThrownBy(() -> start(JobSet.of("reports", 1).with(rare("a"), rare("shared"), rare("z"))))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("'shared'")
                .hasMessageContaining("'billing'")
                .hasMessageContaining("'reports'");
        assertThat(names()).containsExactly("shared");
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_job_set"))
                .isEqualTo(1);
    }

    @Test
    void severalSetsStandSideBySide() {
        start(billing(1, rare("a")), JobSet.of("reports", 5).with(rare("b")));
        start(billing(2, rare("c")));
        assertThat(names()).containsExactly("b", "c");
        assertThat(state("b").jobSet()).contains("reports");
    }

    @Test
    void aPausedJobOfTheSetStaysPaused() {
        start(billing(1, rare("job")));
        jobs.pause("job");
        start(billing(2, rare("job").withPayload("new")));
        assertThat(state("job").isPaused()).isTrue();
    }

    @Test
    void ofManyNodesThatStartAtOnceOneBringsTheJobsAlong() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try (Logs logs = Logs.collect(Level.INFO)) {
            for (int revision = 1; revision <= 3; revision++) {
                JobSet set = billing(revision, rare("a" + revision), rare("b"), rare("c" + revision));
                List<Callable<Windlass>> starts = IntStream.range(0, 6)
                        .<Callable<Windlass>>mapToObj(n -> () -> database()
                                .windlass()
                                .options(database().options().withBackgroundWorkers(false))
                                .jobs(set)
                                .start())
                        .toList();
                for (Future<Windlass> started : threads.invokeAll(starts)) {
                    started.get().close();
                }
                assertThat(logs.count(Level.INFO, "at revision " + revision + ":"))
                        .isEqualTo(1);
                assertThat(names()).containsExactly("a" + revision, "b", "c" + revision);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void theDigestTellsEveryDifference() {
        Job job = rare("job");
        List<Job> others = List.of(
                rare("job2"),
                job.withTopic("t"),
                job.withPayload("p"),
                job.withMisfire(Misfire.skip()),
                job.withMisfire(Misfire.all(2)),
                job.withMisfire(Misfire.all(3)),
                job.withOverlap(Overlap.SKIP),
                job.withJitter(java.time.Duration.ofSeconds(1)),
                Job.cron("job", RARE, BERLIN).withTopic("topic"),
                Job.cron("job", "0 0 1 2 *", UTC).withTopic("topic"),
                Job.every("job", java.time.Duration.ofDays(1)).withTopic("topic"));
        assertThat(others)
                .extracting(other -> billing(1, other).digest())
                .doesNotHaveDuplicates()
                .doesNotContain(billing(1, job).digest());
        assertThat(billing(1, job, rare("x")).digest())
                .isEqualTo(billing(2, rare("x"), job).digest());
        assertThat(billing(1, job).digest()).hasSize(64);
    }
}
