package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.outbox.LosingDataSource;
import dev.windlass.operator.Page;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.UnknownJobException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A job is triggered, and deleted with what nobody has begun. */
@OnEveryEngine
final class DeleteJobConformance extends JobsConformance {

    @Test
    void aDeletedJobTakesAlongTheRunsThatNobodyHasBegun() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        jobs.save(rare("job"));
        jobs.save(rare("other"));
        JobRun running = jobs.trigger("job");
        Windlass node = database().start(database().windlass().outboxHandler("topic", message -> {
            begun.countDown();
            release.await();
        }));
        begun.await();
        node.outbox().operator("me").pause("topic", "for the test");
        JobRun waiting = jobs.trigger("job");
        JobRun others = jobs.trigger("other");
        jobs.delete("job");
        assertThat(jobs.find("job")).isEmpty();
        assertThat(run(waiting).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(run(running).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(run(others).status()).isEqualTo(WorkStatus.READY);
        release.countDown();
        eventually().until(() -> run(running).status() == WorkStatus.DONE);
        assertThat(jobs.runs("job", 10)).extracting(JobRun::id).containsExactly(waiting.id(), running.id());
    }

    private JobRun run(JobRun run) {
        return jobs.findRun(run.id()).orElseThrow();
    }

    @Test
    void aDeletedJobTakesAlongRunsThatAreNoMessages() {
        Jobs plain = passive(ScheduleOptions.defaults().withHandOff(false)).jobs();
        OwnerToken owner = OwnerToken.fresh();
        plain.save(rare("job"));
        JobRun held = plain.trigger("job");
        plain.runClaims().claim(owner, Duration.ofMinutes(1), 1);
        JobRun waiting = plain.trigger("job");
        plain.delete("job");
        assertThat(run(waiting).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(run(waiting).lastError()).contains("its job was deleted");
        assertThat(run(held).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(plain.runClaims().ack(owner, List.of(held.id()))).isEqualTo(1);
        assertThat(run(held).status()).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void aRunThatWaitsForItsNextAttemptGoesWithItsJob() {
        jobs.save(rare("job"));
        JobRun run = jobs.trigger("job");
        OwnerToken owner = OwnerToken.fresh();
        var held = windlass.outbox().claim(owner, Duration.ofMinutes(1), 1);
        windlass.outbox().abandon(owner, List.of(held.get(0).id()), Duration.ofHours(1), "later");
        jobs.delete("job");
        assertThat(run(run).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(run(run).lastError()).contains("later");
    }

    @Test
    void aDeletionThatIsRolledBackLeavesJobAndRuns() throws Exception {
        jobs.save(rare("job"));
        JobRun run = jobs.trigger("job");
        try (Connection connection = database().transaction()) {
            jobs.delete(connection, "job");
            connection.rollback();
        }
        assertThat(jobs.find("job")).isPresent();
        assertThat(run(run).status()).isEqualTo(WorkStatus.READY);
    }

    @Test
    void aTriggerThatIsRolledBackLeavesNothing() throws Exception {
        jobs.save(rare("job"));
        try (Connection connection = database().transaction()) {
            JobRun run = jobs.trigger(connection, "job");
            assertThat(run.status()).isEqualTo(WorkStatus.READY);
            connection.rollback();
        }
        assertThat(runs("1 = 1")).isZero();
        assertThat(messages("1 = 1")).isZero();
        assertThat(state("job").lastRun()).isEmpty();
    }

    @Test
    void aTriggerOfTheCallersTransactionIsHandledWhenHeCommits() throws Exception {
        jobs.save(rare("job"));
        Windlass node = database().start(database().windlass().outboxHandler("topic", message -> {}));
        JobRun run = node.inTransaction(connection -> node.jobs().trigger(connection, "job"));
        eventually().until(() -> run(run).status() == WorkStatus.DONE);
    }

    @Test
    void aPausedJobIsTriggeredAndItsTicksStay() {
        jobs.save(rare("job"));
        jobs.pause("job");
        assertThat(jobs.trigger("job").status()).isEqualTo(WorkStatus.READY);
        assertThat(state("job").isPaused()).isTrue();
        jobs.save(rare("other"));
        var next = state("other").nextTick();
        jobs.trigger("other");
        jobs.trigger("other");
        assertThat(state("other").nextTick()).isEqualTo(next);
        assertThat(runs("source = 'other' and triggered = ?", true)).isEqualTo(2);
    }

    @Test
    void anUnknownJobIsNamed() throws Exception {
        refused(() -> jobs.delete("nightly"));
        refused(() -> jobs.trigger("nightly"));
        refused(() -> jobs.pause("nightly"));
        refused(() -> jobs.resume("nightly"));
        jobs.save(rare("job"));
        try (Connection connection = database().transaction()) {
            refused(() -> jobs.delete(connection, "nightly"));
            refused(() -> jobs.trigger(connection, "nightly"));
            jobs.trigger(connection, "job"); // the transaction goes on
            connection.commit();
        }
        assertThat(runs("1 = 1")).isEqualTo(1);
    }

    private static void refused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        UnknownJobException.class, e -> assertThat(e.jobName()).isEqualTo("nightly"))
                .hasMessageContaining("\"nightly\"")
                .hasMessageContaining("jobs().list()");
    }

    @Test
    void callsWhoseAnswersAreLostAreNotDoneTwice() {
        LosingDataSource losing = new LosingDataSource(database());
        Jobs unlucky = database()
                .start(Windlass.on(losing).options(database().options().withBackgroundWorkers(false)))
                .jobs();
        jobs.save(rare("job").withOverlap(Overlap.SKIP));
        losing.loseAnswers(2);
        JobRun run = unlucky.trigger("job");
        assertThat(jobs.runs("job", 10)).containsExactly(run);
        losing.loseAnswers(1);
        assertThat(unlucky.pause("job")).isTrue();
        assertThat(unlucky.pause("job")).isFalse();
        losing.loseAnswers(2); // that of reading the job is one of them
        assertThat(unlucky.resume("job")).isTrue();
        assertThat(unlucky.resume("job")).isFalse();
        losing.loseAnswers(2);
        unlucky.delete("job");
        assertThat(jobs.list()).isEmpty();
        assertThat(losing.left()).isZero();
    }

    @Test
    void runsAreListedPageByPage() {
        jobs.save(rare("job"));
        jobs.save(rare("other"));
        for (int i = 0; i < 5; i++) {
            jobs.trigger("job");
            jobs.trigger("other");
        }
        List<JobRun> all = jobs.runs("job", 10);
        assertThat(all).hasSize(5).allMatch(run -> run.jobName().equals("job"));
        Page<JobRun> first = jobs.runs("job", 2);
        Page<JobRun> second = jobs.runs("job", 2, first.next().orElseThrow());
        Page<JobRun> third = jobs.runs("job", 2, second.next().orElseThrow());
        assertThat(first).isEqualTo(all.subList(0, 2));
        assertThat(second).isEqualTo(all.subList(2, 4));
        assertThat(third).isEqualTo(all.subList(4, 5));
        assertThat(third.next()).isEmpty();
        assertThat(all).isSortedAccordingTo((a, b) -> b.createdAt().compareTo(a.createdAt()));
        assertThat(jobs.runs("nobody's", 2)).isEmpty();
    }
}
