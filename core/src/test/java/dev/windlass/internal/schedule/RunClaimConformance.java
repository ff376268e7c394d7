package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.operator.Page;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.schedule.ClaimedJobRun;
import dev.windlass.schedule.JobOperator;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.ScheduleOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Programs that switch the hand-off off claim and end runs themselves. */
@OnEveryEngine
final class RunClaimConformance extends JobsConformance {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private final OwnerToken owner = OwnerToken.fresh();

    @BeforeEach
    void startWithoutHandOff() {
        jobs = passive(ScheduleOptions.defaults().withHandOff(false)).jobs();
        jobs.save(rare("job").withPayload("first"));
    }

    private JobRun run(JobRunIdentifier id) {
        return jobs.findRun(id).orElseThrow();
    }

    private static List<JobRunIdentifier> ids(Collection<ClaimedJobRun> runs) {
        return runs.stream().map(ClaimedJobRun::id).toList();
    }

    @Test
    void aClaimedRunComesWithWhatItsJobSaidAtItsTick() {
        JobRun run = jobs.trigger("job");
        jobs.save(rare("job").withTopic("other").withPayload("second"));
        List<ClaimedJobRun> claimed = jobs.runClaims().claim(owner, LEASE, 10);
        assertThat(claimed).hasSize(1);
        assertThat(claimed.get(0).id()).isEqualTo(run.id());
        assertThat(claimed.get(0).topic()).isEqualTo("topic");
        assertThat(claimed.get(0).payload()).isEqualTo("first");
        assertThat(claimed.get(0).toString()).doesNotContain("first");
        assertThat(claimed.get(0).run()).isEqualTo(run(run.id()));
        assertThat(run(run.id()).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(run(run.id()).startedAt()).isPresent();
        assertThat(jobs.runClaims().claim(OwnerToken.fresh(), LEASE, 10)).isEmpty();
    }

    @Test
    void theOldestRunsAreClaimedFirst() {
        List<JobRunIdentifier> made =
                IntStream.range(0, 5).mapToObj(i -> jobs.trigger("job").id()).toList();
        assertThat(ids(jobs.runClaims().claim(owner, LEASE, 2))).isEqualTo(made.subList(0, 2));
        assertThat(ids(jobs.runClaims().claim(owner, LEASE, 10))).isEqualTo(made.subList(2, 5));
    }

    @Test
    void anAcknowledgedRunIsDone() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);
        assertThat(jobs.runClaims().ack(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(jobs.runClaims().ack(owner, List.of(id, id, new JobRunIdentifier(UUID.randomUUID()))))
                .isEqualTo(1);
        assertThat(jobs.runClaims().ack(owner, List.of(id)))
                .as("a repeated one holds")
                .isEqualTo(1);
        assertThat(run(id).status()).isEqualTo(WorkStatus.DONE);
        assertThat(run(id).endedAt()).isPresent();
        assertThat(run(id).messageId()).isEmpty();
        assertThat(state("job").lastRun()).contains(run(id));
    }

    @Test
    void whoIsNotDoneInTimeRenewsAndWhoHasNotBegunGivesBack() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);

        assertThat(jobs.runClaims().heartbeat(OwnerToken.fresh(), List.of(id), LEASE))
                .isZero();
        assertThat(jobs.runClaims().heartbeat(owner, List.of(id), LEASE)).isEqualTo(1);
        assertThat(jobs.runClaims().release(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(jobs.runClaims().release(owner, List.of(id))).isEqualTo(1);
        assertThat(ids(jobs.runClaims().claim(OwnerToken.fresh(), LEASE, 1))).containsExactly(id);
    }

    @Test
    void anAbandonedRunIsClaimedAgainAfterItsPause() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);
        assertThat(jobs.runClaims().abandon(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(jobs.runClaims().abandon(owner, List.of(id), Duration.ZERO, "not now"))
                .isEqualTo(1);
        assertThat(run(id).status()).isEqualTo(WorkStatus.READY);
        assertThat(run(id).retryCount()).isEqualTo(1);
        assertThat(run(id).lastError()).contains("not now");
        assertThat(ids(jobs.runClaims().claim(owner, LEASE, 1))).containsExactly(id);
        assertThat(jobs.runClaims().abandon(owner, List.of(id))).isEqualTo(1);
        assertThat(jobs.runClaims().claim(owner, LEASE, 1)).isEmpty();
        assertThat(run(id).lastError()).contains("not now");
        database().update("update %s.outbox_job_run set next_attempt_at = created_at");
        assertThat(jobs.runClaims().claim(owner, LEASE, 1)).hasSize(1);
    }

    @Test
    void aFailedRunStaysFailed() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);
        assertThat(jobs.runClaims().fail(OwnerToken.fresh(), List.of(id), "no")).isZero();
        assertThat(jobs.runClaims().fail(owner, List.of(id), "x".repeat(3000))).isEqualTo(1);
        assertThat(run(id).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(run(id).lastError().orElseThrow()).hasSize(2048);
        assertThat(jobs.runClaims().claim(owner, LEASE, 1)).isEmpty();
    }

    @Test
    void aRunWhoseLeaseRanOutIsTakenBack() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);
        assertThat(jobs.runClaims().reapExpired()).isZero();
        database().update("update %s.outbox_job_run set locked_until = created_at");
        assertThat(jobs.runClaims().reapExpired()).isEqualTo(1);
        assertThat(jobs.runClaims().ack(owner, List.of(id))).isZero();
        assertThat(run(id).leaseExpiries()).isEqualTo(1);
        assertThat(run(id).retryCount()).isZero();
        assertThat(ids(jobs.runClaims().claim(OwnerToken.fresh(), LEASE, 1))).containsExactly(id);
    }

    @Test
    void nothingIsReapedRightAfterAStartOfTheServer() {
        jobs.trigger("job");
        jobs.runClaims().claim(owner, LEASE, 1);
        database().update("update %s.outbox_job_run set locked_until = created_at");
        Jobs patient = database()
                .start(database()
                        .windlass()
                        .options(database().options().withBackgroundWorkers(false))
                        .schedule(ScheduleOptions.defaults().withLease(Duration.ofDays(30_000))))
                .jobs();
        assertThat(patient.runClaims().reapExpired()).isZero();
    }

    @Test
    void emptyCollectionsDoNothing() {
        assertThat(jobs.runClaims().ack(owner, List.of())).isZero();
        assertThat(jobs.runClaims().abandon(owner, List.of())).isZero();
        assertThat(jobs.runClaims().abandon(owner, List.of(), LEASE, "")).isZero();
        assertThat(jobs.runClaims().fail(owner, List.of(), "")).isZero();
    }

    @Test
    void noRunIsClaimedTwice() throws Exception {
        List<JobRunIdentifier> made =
                IntStream.range(0, 60).mapToObj(i -> jobs.trigger("job").id()).toList();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Callable<List<JobRunIdentifier>> claimer =
                    () -> Stream.generate(() -> jobs.runClaims().claim(OwnerToken.fresh(), LEASE, 3))
                            .takeWhile(claimed -> !claimed.isEmpty())
                            .flatMap(List::stream)
                            .map(ClaimedJobRun::id)
                            .toList();
            List<Future<List<JobRunIdentifier>>> futures =
                    threads.invokeAll(List.of(claimer, claimer, claimer, claimer));
            List<JobRunIdentifier> all = new java.util.ArrayList<>();
            for (Future<List<JobRunIdentifier>> future : futures) {
                all.addAll(future.get());
            }
            assertThat(all).doesNotHaveDuplicates();
            // one that another claimer had just locked is skipped: the last ones may be left
            all.addAll(ids(jobs.runClaims().claim(owner, LEASE, 100)));
            assertThat(all).containsExactlyInAnyOrderElementsOf(made);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aRunRemembersWhatItsHandlerWroteDownBeforeItEnded() throws SQLException {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);
        assertThat(run(id).output()).isEmpty();
        assertThat(jobs.recordOutput(id, "half of it")).isTrue();
        try (Connection connection = database().transaction()) {
            assertThat(jobs.recordOutput(connection, id, "x".repeat(9000))).isTrue();
            assertThat(run(id).output()).contains("half of it");
            connection.commit();
        }
        jobs.runClaims().ack(owner, List.of(id));
        assertThat(run(id).output().orElseThrow()).hasSize(8192);
        assertThat(run(id).toString()).doesNotContain("xxx");
        assertThat(jobs.recordOutput(id, "too late")).isFalse();
        assertThat(jobs.recordOutput(new JobRunIdentifier(UUID.randomUUID()), "nobody's"))
                .isFalse();
    }

    @Test
    void aFailedRunIsListedRequeuedAndPurgedByAnOperator() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);
        jobs.runClaims().fail(owner, List.of(id), "broken");
        JobOperator operator = jobs.operator("me");
        assertThat(operator.list(MessageFilter.failed().withSource("job"), 10))
                .extracting(JobRun::id)
                .containsExactly(id);
        assertThat(operator.list(MessageFilter.failed().withSource("other"), 10))
                .isEmpty();
        assertThat(jobs.failures(id))
                .extracting(attempt -> attempt.error().orElseThrow())
                .containsExactly("broken");

        assertThat(operator.requeue(List.of(id), Attempts.RESET)).isEqualTo(1);
        assertThat(run(id).status()).isEqualTo(WorkStatus.READY);
        assertThat(jobs.runClaims().claim(owner, LEASE, 1).get(0).payload()).isEqualTo("first");
        jobs.runClaims().fail(owner, List.of(id), "broken");
        assertThat(operator.purge(MessageFilter.failed())).isEqualTo(1);
        assertThat(jobs.findRun(id)).isEmpty();
        assertThat(state("job").lastRun()).isEmpty();
        assertThat(operator.actions(10)).extracting(OperatorAction::verb).containsExactly("purge", "requeue");
    }

    @Test
    void runsOfAPausedTopicAreNotClaimed() {
        jobs.trigger("job");
        JobOperator operator = jobs.operator("me");
        operator.pause("topic", "why");
        assertThat(jobs.runClaims().claim(owner, LEASE, 1)).isEmpty();
        operator.resume("topic");
        assertThat(jobs.runClaims().claim(owner, LEASE, 1)).hasSize(1);
    }

    @Test
    void runsOfAllStatesAreListedTheLatestFirstInPages() {
        List<JobRunIdentifier> made =
                IntStream.range(0, 5).mapToObj(i -> jobs.trigger("job").id()).toList();
        jobs.runClaims().claim(owner, LEASE, 1);
        JobOperator operator = jobs.operator("me");
        Page<JobRun> first = operator.list(MessageFilter.all(), 3);
        List<JobRun> second = operator.list(MessageFilter.all(), 3, first.next().orElseThrow());
        assertThat(Stream.concat(first.stream(), second.stream()).map(JobRun::id))
                .containsExactly(made.get(4), made.get(3), made.get(2), made.get(1), made.get(0));
        MessageFilter ready = MessageFilter.all().withStatus(WorkStatus.READY);
        Page<JobRun> oldest = operator.list(ready, 2);
        assertThat(oldest).extracting(JobRun::id).containsExactly(made.get(1), made.get(2));
        assertThat(operator.list(ready, 9, oldest.next().orElseThrow()))
                .extracting(JobRun::id)
                .containsExactly(made.get(3), made.get(4));
        assertThat(operator.list(MessageFilter.all().withStatus(WorkStatus.IN_PROGRESS), 9))
                .extracting(JobRun::id)
                .containsExactly(made.get(0));
    }

    @Test
    void aRunThatNobodyHasBegunIsCancelledOrMoved() throws SQLException {
        JobRunIdentifier first = jobs.trigger("job").id();
        JobRunIdentifier second = jobs.trigger("job").id();
        assertThat(jobs.cancelRun(first)).isTrue();
        assertThat(jobs.cancelRun(first)).isFalse();
        assertThat(run(first).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(jobs.rescheduleRun(second, Instant.parse("2999-01-01T00:00:00Z")))
                .isTrue();
        assertThat(jobs.runClaims().claim(owner, LEASE, 10)).isEmpty();
        assertThat(jobs.rescheduleRun(second, Instant.EPOCH)).isTrue();
        assertThat(ids(jobs.runClaims().claim(owner, LEASE, 10))).containsExactly(second);
        assertThat(jobs.cancelRun(second)).isFalse();
        assertThat(jobs.rescheduleRun(second, Instant.EPOCH)).isFalse();
        assertThat(jobs.cancelRun(new JobRunIdentifier(UUID.randomUUID()))).isFalse();
        JobRunIdentifier third = jobs.trigger("job").id();
        try (Connection connection = database().transaction()) {
            assertThat(jobs.cancelRun(connection, third)).isTrue();
            connection.rollback();
        }
        assertThat(run(third).status()).isEqualTo(WorkStatus.READY);
    }

    @Test
    void aRunThatBecameAMessageIsCancelledAndMovedAsOne() {
        Windlass handing = passive(ScheduleOptions.defaults());
        JobRunIdentifier first = handing.jobs().trigger("job").id();
        JobRunIdentifier second = handing.jobs().trigger("job").id();
        assertThat(jobs.cancelRun(first)).isTrue();
        assertThat(run(first).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(jobs.rescheduleRun(second, Instant.parse("2999-01-01T00:00:00Z")))
                .isTrue();
        assertThat(handing.outbox().claim(owner, LEASE, 10)).isEmpty();
        assertThat(jobs.rescheduleRun(second, Instant.EPOCH)).isTrue();
        assertThat(handing.outbox().claim(owner, LEASE, 10)).hasSize(1);
        assertThat(jobs.cancelRun(second)).isFalse();
    }

    /** A message that is no run has an id too. */
    @Test
    void whatIsNoRunIsNotCancelledAsOne() {
        Windlass other = passive(ScheduleOptions.defaults());
        OutboxMessageIdentifier message = other.outbox().enqueue(OutboxEntry.of("topic", ""));
        JobRunIdentifier id = new JobRunIdentifier(message.value());
        assertThat(jobs.cancelRun(id)).isFalse();
        assertThat(jobs.rescheduleRun(id, Instant.parse("2999-01-01T00:00:00Z")))
                .isFalse();
        assertThat(other.outbox().claim(owner, LEASE, 10)).hasSize(1);
    }

    /** What has begun is brought to an end, with its retries; as a message would be. */
    @Test
    void aRunThatIsGivenBackAfterItsJobWasDeletedIsClaimedAgain() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.runClaims().claim(owner, LEASE, 1);
        jobs.delete("job");
        jobs.runClaims().abandon(owner, List.of(id), Duration.ZERO, "not now");
        assertThat(ids(jobs.runClaims().claim(owner, LEASE, 1))).containsExactly(id);
    }
}
