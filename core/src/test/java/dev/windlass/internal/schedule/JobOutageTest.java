package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.TestDatabase;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Misfire;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On a server of its own, with fsync, that is killed and started again, as are the processes that make runs. */
final class JobOutageTest {
    private static final int TICKS = 12;
    private static final List<String> NAMES = List.of("by period", "by cron");

    @RegisterExtension
    static final TestDatabase database = new TestDatabase(
            EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withFsync(true)));

    private static Jobs jobs() {
        Jobs jobs = database.passive().jobs();
        Misfire all = Misfire.all(1000);
        jobs.save(Job.every("by period", Duration.ofSeconds(1)).withTopic("a").withMisfire(all));
        jobs.save(Job.cron("by cron", "* * * * * *", JobsConformance.UTC)
                .withTopic("a")
                .withMisfire(all));
        return jobs;
    }

    private static long runs(String where) {
        return database.value(Long.class, "select count(*) from %s.outbox_job_run where " + where);
    }

    private static void eventuallyMade(long ticks) {
        eventually().ignoreExceptions().until(() -> runs("source = 'by period'") >= ticks);
    }

    /** From its first tick to its last one, each has one run, and each run one message, which was handled. */
    private static void noTickWasLostOrDoubled(Jobs jobs, int ticks) {
        eventually().ignoreExceptions().until(() -> runs("true") >= 2L * ticks);
        List<Instant> firsts = NAMES.stream().map(JobOutageTest::first).toList();
        NAMES.forEach(jobs::pause);
        eventually().atMost(Duration.ofMinutes(2)).ignoreExceptions().until(() -> runs("ended_at is null") == 0);
        for (int n = 0; n < NAMES.size(); n++) {
            List<JobRun> found = jobs.runs(NAMES.get(n), 10_000);
            for (int i = 0; i < found.size(); i++) {
                assertThat(found.get(i).tick())
                        .as("tick %s of %s", i, NAMES.get(n))
                        .isEqualTo(firsts.get(n).plusSeconds(found.size() - 1 - i));
                assertThat(found.get(i).status()).isEqualTo(WorkStatus.DONE);
            }
            assertThat(jobs.find(NAMES.get(n)).orElseThrow().skippedTicks()).isZero();
        }
        assertThat(database.count("source = 'job' and status = 2")).isEqualTo(runs("true"));
        assertThat(database.count("true")).isEqualTo(runs("true"));
    }

    private static Instant first(String name) {
        return database.value(OffsetDateTime.class, "select min(tick_at) from %s.outbox_job_run where source = ?", name)
                .toInstant();
    }

    @Test
    void killedProcessesNeitherLoseNorDoubleATick() throws Exception {
        Random random = new Random(7);
        List<Child> children = new ArrayList<>();
        try {
            for (int n = 0; n < 3; n++) {
                children.add(Child.start(JobNode.class, database));
            }
            Jobs jobs = jobs();
            for (int kill = 1; kill <= 4; kill++) {
                eventuallyMade(kill * 2L);
                int victim = random.nextInt(children.size());
                children.get(victim).kill();
                children.set(victim, Child.start(JobNode.class, database));
            }
            noTickWasLostOrDoubled(jobs, TICKS);
        } finally {
            children.forEach(Child::close);
        }
    }

    @Test
    void ticksThatPassWhileNoProcessLivesAreMadeUpFor() throws Exception {
        Jobs jobs;
        try (Child child = Child.start(JobNode.class, database)) {
            jobs = jobs();
            eventuallyMade(2);
            child.kill();
        }
        long made = runs("true");
        Instant then =
                database.value(OffsetDateTime.class, "select clock_timestamp()").toInstant();
        eventually()
                .until(() -> database.value(OffsetDateTime.class, "select clock_timestamp()")
                        .toInstant()
                        .isAfter(then.plusSeconds(4)));
        assertThat(runs("true")).isEqualTo(made);
        try (Child child = Child.start(JobNode.class, database)) {
            noTickWasLostOrDoubled(jobs, 8);
            assertThat(child.isAlive()).isTrue();
        }
    }

    @Test
    void aKilledDatabaseNeitherLosesNorDoublesATick() throws Exception {
        OutboxOptions outbox =
                OutboxOptions.defaults().withLease(Duration.ofSeconds(3)).withMaxLeaseExpiries(100);
        for (int n = 0; n < 3; n++) {
            database.start(database.windlass().outbox(outbox).outboxHandler("a", message -> {}));
        }
        Jobs jobs = jobs();
        for (int kill = 1; kill <= 3; kill++) {
            eventuallyMade(kill * 2L);
            database.server().kill();
            database.server().restart();
        }
        noTickWasLostOrDoubled(jobs, TICKS);
    }
}
