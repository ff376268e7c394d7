package dev.windlass.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OwnerToken;
import java.time.Duration;
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
abstract class RunClaimConformance extends JobsConformance {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private final OwnerToken owner = OwnerToken.fresh();

    @BeforeEach
    void startWithoutHandOff() {
        jobs = passive(ScheduleOptions.defaults().withHandOff(false)).jobs();
        jobs.save(rare("job").payload("first"));
    }

    private JobRun run(JobRunIdentifier id) {
        return jobs.findRun(id).orElseThrow();
    }

    private static List<JobRunIdentifier> ids(Collection<ClaimedJobRun> runs) {
        return runs.stream().map(ClaimedJobRun::id).toList();
    }

    @Test
    void aClaimedRunComesWithWhatItsJobSaysNow() {
        JobRun run = jobs.trigger("job");
        jobs.save(rare("job").topic("other").payload("second"));
        List<ClaimedJobRun> claimed = jobs.claimRuns(owner, LEASE, 10);
        assertThat(claimed).hasSize(1);
        assertThat(claimed.get(0).id()).isEqualTo(run.id());
        assertThat(claimed.get(0).topic()).isEqualTo("other");
        assertThat(claimed.get(0).payload()).isEqualTo("second");
        assertThat(claimed.get(0).toString()).doesNotContain("second");
        assertThat(claimed.get(0).run()).isEqualTo(run(run.id()));
        assertThat(run(run.id()).status()).isEqualTo(JobRunStatus.IN_PROGRESS);
        assertThat(run(run.id()).startedAt()).isPresent();
        assertThat(jobs.claimRuns(OwnerToken.fresh(), LEASE, 10)).isEmpty();
    }

    @Test
    void theOldestRunsAreClaimedFirst() {
        List<JobRunIdentifier> made =
                IntStream.range(0, 5).mapToObj(i -> jobs.trigger("job").id()).toList();
        assertThat(ids(jobs.claimRuns(owner, LEASE, 2))).isEqualTo(made.subList(0, 2));
        assertThat(ids(jobs.claimRuns(owner, LEASE, 10))).isEqualTo(made.subList(2, 5));
    }

    @Test
    void anAcknowledgedRunHasSucceeded() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.claimRuns(owner, LEASE, 1);
        assertThat(jobs.ackRuns(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(jobs.ackRuns(owner, List.of(id, id, new JobRunIdentifier(UUID.randomUUID()))))
                .isEqualTo(1);
        assertThat(jobs.ackRuns(owner, List.of(id))).as("a repeated one holds").isEqualTo(1);
        assertThat(run(id).status()).isEqualTo(JobRunStatus.SUCCEEDED);
        assertThat(run(id).endedAt()).isPresent();
        assertThat(run(id).messageId()).isEmpty();
        assertThat(state("job").lastRun()).contains(run(id));
    }

    @Test
    void whoIsNotDoneInTimeRenewsAndWhoHasNotBegunGivesBack() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.claimRuns(owner, LEASE, 1);

        assertThat(jobs.heartbeatRuns(OwnerToken.fresh(), List.of(id), LEASE)).isZero();
        assertThat(jobs.heartbeatRuns(owner, List.of(id), LEASE)).isEqualTo(1);
        assertThat(jobs.releaseRuns(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(jobs.releaseRuns(owner, List.of(id))).isEqualTo(1);
        assertThat(ids(jobs.claimRuns(OwnerToken.fresh(), LEASE, 1))).containsExactly(id);
    }

    @Test
    void anAbandonedRunIsClaimedAgainAfterItsPause() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.claimRuns(owner, LEASE, 1);
        assertThat(jobs.abandonRuns(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(jobs.abandonRuns(owner, List.of(id), Duration.ZERO, "not now"))
                .isEqualTo(1);
        assertThat(run(id).status()).isEqualTo(JobRunStatus.READY);
        assertThat(run(id).retryCount()).isEqualTo(1);
        assertThat(run(id).lastError()).contains("not now");
        assertThat(ids(jobs.claimRuns(owner, LEASE, 1))).containsExactly(id);
        assertThat(jobs.abandonRuns(owner, List.of(id))).isEqualTo(1);
        assertThat(jobs.claimRuns(owner, LEASE, 1)).isEmpty();
        assertThat(run(id).lastError()).contains("not now");
        database().update("update %s.outbox_job_run set next_attempt_at = created_at");
        assertThat(jobs.claimRuns(owner, LEASE, 1)).hasSize(1);
    }

    @Test
    void aFailedRunStaysFailed() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.claimRuns(owner, LEASE, 1);
        assertThat(jobs.failRuns(OwnerToken.fresh(), List.of(id), "no")).isZero();
        assertThat(jobs.failRuns(owner, List.of(id), "x".repeat(3000))).isEqualTo(1);
        assertThat(run(id).status()).isEqualTo(JobRunStatus.FAILED);
        assertThat(run(id).lastError().orElseThrow()).hasSize(2048);
        assertThat(jobs.claimRuns(owner, LEASE, 1)).isEmpty();
    }

    @Test
    void aRunWhoseLeaseRanOutIsTakenBack() {
        JobRunIdentifier id = jobs.trigger("job").id();
        jobs.claimRuns(owner, LEASE, 1);
        assertThat(jobs.reapExpiredRuns()).isZero();
        database().update("update %s.outbox_job_run set locked_until = created_at");
        assertThat(jobs.reapExpiredRuns()).isEqualTo(1);
        assertThat(jobs.ackRuns(owner, List.of(id))).isZero();
        assertThat(run(id).leaseExpiries()).isEqualTo(1);
        assertThat(run(id).retryCount()).isZero();
        assertThat(ids(jobs.claimRuns(OwnerToken.fresh(), LEASE, 1))).containsExactly(id);
    }

    @Test
    void nothingIsReapedRightAfterAStartOfTheServer() {
        jobs.trigger("job");
        jobs.claimRuns(owner, LEASE, 1);
        database().update("update %s.outbox_job_run set locked_until = created_at");
        Jobs patient = database()
                .start(database()
                        .windlass()
                        .options(database().options().withBackgroundWorkers(false))
                        .schedule(ScheduleOptions.defaults().withLease(Duration.ofDays(30_000))))
                .jobs();
        assertThat(patient.reapExpiredRuns()).isZero();
    }

    @Test
    void emptyCollectionsDoNothing() {
        assertThat(jobs.ackRuns(owner, List.of())).isZero();
        assertThat(jobs.abandonRuns(owner, List.of())).isZero();
        assertThat(jobs.abandonRuns(owner, List.of(), LEASE, "")).isZero();
        assertThat(jobs.failRuns(owner, List.of(), "")).isZero();
    }

    @Test
    void noRunIsClaimedTwice() throws Exception {
        List<JobRunIdentifier> made =
                IntStream.range(0, 60).mapToObj(i -> jobs.trigger("job").id()).toList();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Callable<List<JobRunIdentifier>> claimer =
                    () -> Stream.generate(() -> jobs.claimRuns(OwnerToken.fresh(), LEASE, 3))
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
            all.addAll(ids(jobs.claimRuns(owner, LEASE, 100)));
            assertThat(all).containsExactlyInAnyOrderElementsOf(made);
        } finally {
            threads.shutdownNow();
        }
    }
}
