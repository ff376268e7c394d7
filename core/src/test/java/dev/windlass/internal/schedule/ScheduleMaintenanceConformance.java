package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nodes tidy up by themselves. */
@OnEveryEngine
final class ScheduleMaintenanceConformance extends JobsConformance {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private final OwnerToken owner = OwnerToken.fresh();

    private void startNode() {
        database()
                .start(database()
                        .windlass()
                        .schedule(ScheduleOptions.defaults()
                                .withHandOff(false)
                                .withLease(Duration.ofMillis(10))
                                .withRunRetention(Duration.ofDays(1))));
    }

    private Jobs plain() {
        return passive(ScheduleOptions.defaults().withHandOff(false)).jobs();
    }

    private JobRun run(JobRun run) {
        return jobs.findRun(run.id()).orElseThrow();
    }

    @Test
    void leasesThatRanOutAreTakenBack() {
        Jobs plain = plain();
        plain.save(rare("job"));
        JobRun run = plain.trigger("job");
        plain.runClaims().claim(owner, LEASE, 1);
        windlass.timers().schedule(TimerEntry.of("topic", "", Duration.ZERO));
        assertThat(windlass.timers().claim(owner, LEASE, 1)).hasSize(1);
        database().update("update %s.outbox_job_run set locked_until = created_at");
        database().update("update %s.outbox_timer set locked_until = created_at");
        startNode();
        eventually().until(() -> run(run).status() == WorkStatus.READY);
        eventually().until(() -> windlass.timers().claim(owner, LEASE, 1).size() == 1);
    }

    @Test
    void oldRunsAreDeletedButNotTheLastOneOfAJob() {
        jobs.save(rare("job"));
        JobRun first = jobs.trigger("job");
        JobRun second = jobs.trigger("job");
        JobRun last = jobs.trigger("job");
        jobs.save(rare("deleted"));
        JobRun gone = jobs.trigger("deleted");
        jobs.save(rare("unfinished"));
        JobRun unfinished = jobs.trigger("unfinished");
        jobs.delete("deleted");
        List.of(first, second, last)
                .forEach(run -> windlass.outbox().cancel(run.messageId().orElseThrow()));
        database()
                .update("update %s.outbox_job_run set created_at = "
                        + database().plus("created_at", Duration.ofDays(-2)));
        database()
                .update(
                        "update %s.outbox_job_run set ended_at = " + database().plus("ended_at", Duration.ofDays(-2))
                                + " where id <> ?",
                        second.id().value());
        startNode();
        eventually().until(() -> jobs.findRun(first.id()).isEmpty());
        eventually().until(() -> jobs.findRun(gone.id()).isEmpty());
        assertThat(jobs.findRun(second.id())).isPresent();
        assertThat(jobs.findRun(last.id())).isPresent();
        assertThat(jobs.findRun(unfinished.id())).isPresent();
    }

    @Test
    void aRunWhoseMessageIsGoneEndsAsFailed() {
        jobs.save(rare("job"));
        JobRun gone = jobs.trigger("job");
        JobRun there = jobs.trigger("job");
        database().update("delete from %s.outbox where id = ?", gone.id().value());
        JobRun fresh = jobs.trigger("job");
        database().update("delete from %s.outbox where id = ?", fresh.id().value());
        database()
                .update(
                        "update %s.outbox_job_run set created_at = "
                                + database().plus("created_at", Duration.ofMinutes(-2)) + " where id <> ?",
                        fresh.id().value());
        startNode();
        eventually().until(() -> run(gone).endedAt().isPresent());
        assertThat(run(gone).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(run(gone).lastError()).contains("its message is gone");
        assertThat(run(there).endedAt()).isEmpty();
        assertThat(run(fresh).endedAt()).isEmpty();
    }
}
