package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.UnfinishedRunException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A run is as its message is, and ends with it. */
@OnEveryEngine
final class RunOutcomeConformance extends JobsConformance {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private final OwnerToken owner = OwnerToken.fresh();

    @BeforeEach
    void saveJob() {
        jobs.save(rare("job"));
    }

    private JobRun read(JobRun run) {
        return jobs.findRun(run.id()).orElseThrow();
    }

    private List<OutboxWorkItemIdentifier> claim(Windlass by) {
        return by.outbox().claim(owner, LEASE, 100).stream().map(m -> m.id()).toList();
    }

    private static OutboxMessageIdentifier message(JobRun run) {
        return run.messageId().orElseThrow();
    }

    @Test
    void aRunIsReadyInProgressAndDoneAsItsMessageIs() {
        JobRun run = jobs.trigger("job");
        assertThat(run.triggered()).isTrue();
        assertThat(run.status()).isEqualTo(WorkStatus.READY);
        assertThat(run.startedAt()).isEmpty();
        assertThat(run.tick()).isEqualTo(run.createdAt());
        List<OutboxWorkItemIdentifier> held = claim(windlass);
        JobRun going = read(run);
        assertThat(going.status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(going.startedAt().orElseThrow()).isAfter(run.createdAt());
        assertThat(state("job").lastRun()).contains(going);
        windlass.outbox().ack(owner, held);
        JobRun ended = read(run);
        assertThat(ended.status()).isEqualTo(WorkStatus.DONE);
        assertThat(ended.startedAt()).isEqualTo(going.startedAt());
        assertThat(ended.endedAt().orElseThrow()).isAfter(going.startedAt().orElseThrow());
        assertThat(ended.lastError()).isEmpty();
        assertThat(ended.messageId()).isEqualTo(run.messageId());
        assertThat(jobs.runs("job", 1)).containsExactly(ended);
    }

    @Test
    void retriesAreSeenWhileTheyGoOnAndAfterTheEnd() {
        JobRun run = jobs.trigger("job");
        windlass.outbox().abandon(owner, claim(windlass), Duration.ZERO, "not now");
        assertThat(read(run).status()).isEqualTo(WorkStatus.READY);
        assertThat(read(run).retryCount()).isEqualTo(1);
        assertThat(read(run).lastError()).contains("not now");
        assertThat(read(run).startedAt()).isEmpty();
        windlass.outbox().ack(owner, claim(windlass));
        JobRun ended = read(run);
        assertThat(ended.status()).isEqualTo(WorkStatus.DONE);
        assertThat(ended.retryCount()).isEqualTo(1);
        assertThat(ended.lastError()).contains("not now");
    }

    @Test
    void aFailedMessageFailsTheRunAndARequeuedOneReopensIt() {
        JobRun run = jobs.trigger("job");
        windlass.outbox().fail(owner, claim(windlass), "broken");
        assertThat(read(run).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(read(run).lastError()).contains("broken");
        assertThat(read(run).endedAt()).isPresent();
        assertThat(windlass.outbox().operator("me").requeue(List.of(message(run)), Attempts.RESET))
                .isEqualTo(1);
        assertThat(read(run).status()).isEqualTo(WorkStatus.READY);
        assertThat(read(run).endedAt()).isEmpty();
        windlass.outbox().ack(owner, claim(windlass));
        assertThat(read(run).status()).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void aFailedRunIsRequeuedTogetherWithItsMessageUnlessThatIsGone() {
        JobRun run = jobs.trigger("job");
        JobRun gone = jobs.trigger("job");
        windlass.outbox().fail(owner, claim(windlass), "broken");
        windlass.outbox().operator("me").purge(List.of(message(gone)));
        assertThat(jobs.operator("me").requeue(MessageFilter.failed(), Attempts.RESET))
                .isEqualTo(1);
        assertThat(read(run).status()).isEqualTo(WorkStatus.READY);
        assertThat(read(gone).status()).isEqualTo(WorkStatus.FAILED);
        windlass.outbox().ack(owner, claim(windlass));
        assertThat(read(run).status()).isEqualTo(WorkStatus.DONE);
        assertThat(windlass.outbox().operator("me").actions(1).get(0).verb()).isEqualTo("requeue");
    }

    @Test
    void aMessageHasThePayloadAndItsRunHasNoSecondCopy() {
        jobs.save(rare("job").withPayload("content"));
        jobs.trigger("job");
        assertThat(messages("payload = 'content' and source = 'job'")).isEqualTo(1);
        assertThat(runs("payload = '' and topic = 'topic'")).isEqualTo(1);
    }

    @Test
    void whoErasesARunErasesTheMessageThatItBecame() {
        jobs.save(rare("job").withPayload("content"));
        JobRun run = jobs.trigger("job");
        JobRun going = jobs.trigger("job");
        windlass.outbox().fail(owner, claim(windlass), "broken");
        windlass.outbox().operator("me").requeue(List.of(message(going)), Attempts.RESET);
        assertThat(jobs.operator("me").erase(List.of(run.id(), going.id()))).isEqualTo(1);
        assertThat(messages("payload = '' and erased_at is not null")).isEqualTo(1);
        assertThat(messages("payload = 'content'")).isEqualTo(1);
    }

    @Test
    void theHandlerOfAMessageWritesDownWhatCameOfTheRun() {
        JobRun run = jobs.trigger("job");
        database()
                .start(database()
                        .windlass()
                        .outboxHandler(
                                "topic",
                                message -> jobs.recordOutput(JobRunIdentifier.of(message), "done " + message.topic())));
        eventually().until(() -> read(run).status() == WorkStatus.DONE);
        assertThat(read(run).output()).contains("done topic");
        assertThat(state("job").lastRun().orElseThrow().output()).contains("done topic");
    }

    @Test
    void aPurgedMessageLeavesTheRunFailed() {
        JobRun run = jobs.trigger("job");
        windlass.outbox().fail(owner, claim(windlass), "broken");
        windlass.outbox().operator("me").purge(List.of(message(run)));
        assertThat(read(run).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(read(run).lastError()).contains("broken");
    }

    @Test
    void aCancelledMessageCancelsTheRun() {
        JobRun run = jobs.trigger("job");
        assertThat(windlass.outbox().cancel(message(run))).isTrue();
        assertThat(read(run).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(read(run).endedAt()).isPresent();
        assertThat(read(run).startedAt()).isEmpty();
    }

    @Test
    void aMessageThatExpiresFailsTheRun() throws SQLException {
        JobRun run = jobs.trigger("job");
        database().update("update %s.outbox set expires_at = created_at");
        Database routines = database().routines();
        routines.once(connection ->
                routines.call(connection, "outbox_expire").integer(10).count());
        assertThat(read(run).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(read(run).lastError().orElseThrow()).contains("expired");
    }

    @Test
    void aMessageThatIsDeletedWhenItIsDoneEndsTheRun() {
        Windlass brief = database()
                .start(database()
                        .windlass()
                        .options(database().options().withBackgroundWorkers(false))
                        .outbox(OutboxOptions.defaults().withRetention(Duration.ZERO)));
        JobRun run = jobs.trigger("job");
        brief.outbox().abandon(owner, claim(brief), Duration.ZERO, "not now");
        brief.outbox().ack(owner, claim(brief));
        assertThat(messages("1 = 1")).isZero();
        JobRun ended = read(run);
        assertThat(ended.status()).isEqualTo(WorkStatus.DONE);
        assertThat(ended.retryCount()).isEqualTo(1);
        assertThat(ended.startedAt()).isPresent();
        assertThat(ended.endedAt()).isPresent();
    }

    @Test
    void handlersDecideHowRunsEnd() {
        AtomicInteger calls = new AtomicInteger();
        HandlerOptions quick =
                HandlerOptions.defaults().withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(1), 0));
        jobs.save(rare("stubborn").withTopic("stubborn"));
        jobs.save(rare("hopeless").withTopic("hopeless"));
        jobs.save(rare("poison").withTopic("poison"));
        database()
                .start(database()
                        .windlass()
                        .outboxHandler("stubborn", quick, message -> {
                            if (calls.incrementAndGet() < 3) {
                                throw new IllegalStateException("not yet");
                            }
                        })
                        .outboxHandler("hopeless", quick, message -> {
                            throw new IllegalStateException("never");
                        })
                        .outboxHandler("poison", quick, message -> {
                            throw new PermanentFailure("bad");
                        }));
        JobRun stubborn = jobs.trigger("stubborn");
        JobRun hopeless = jobs.trigger("hopeless");
        JobRun poison = jobs.trigger("poison");
        eventually().until(() -> runs("ended_at is not null") == 3);
        assertThat(read(stubborn).status()).isEqualTo(WorkStatus.DONE);
        assertThat(read(stubborn).retryCount()).isEqualTo(2);
        assertThat(read(hopeless).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(read(hopeless).lastError().orElseThrow()).contains("never");
        assertThat(read(poison).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(read(poison).retryCount()).isZero();
    }

    @Test
    void ticksAreSkippedWhileARunIsUnfinished() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        database().start(database().windlass().outboxHandler("slow", message -> {
            calls.incrementAndGet();
            release.await();
        }));
        jobs.save(Job.every("slow", Duration.ofSeconds(1)).withTopic("slow").withOverlap(Overlap.SKIP));
        eventually().until(() -> state("slow").skippedTicks() >= 2);
        assertThat(runs("source = 'slow'")).isEqualTo(1);
        assertThat(calls).hasValue(1);
        assertThat(state("slow").lastSkippedAt()).isPresent();
        JobRun unfinished = state("slow").lastRun().orElseThrow();
        assertThatThrownBy(() -> jobs.trigger("slow"))
                .isInstanceOfSatisfying(
                        UnfinishedRunException.class, e -> assertThat(e.run()).isEqualTo(unfinished.id()))
                .hasMessageContaining("slow")
                .hasMessageContaining(unfinished.id().value().toString());
        try (Connection connection = database().transaction()) {
            assertThatThrownBy(() -> jobs.trigger(connection, "slow")).isInstanceOf(UnfinishedRunException.class);
            jobs.trigger(connection, "job"); // the transaction goes on
            connection.commit();
        }
        release.countDown();
        eventually().until(() -> runs("source = 'slow'") >= 2);
        assertThat(state("job").lastRun()).isPresent();
    }

    @Test
    void severalMissedTicksMakeOneRunOfAJobThatAllowsNoOverlap() {
        jobs.save(Job.cron("strict", "0 * * * *", UTC)
                .withTopic("topic")
                .withMisfire(Misfire.all(5))
                .withOverlap(Overlap.SKIP));
        database()
                .update(
                        "update %s.outbox_job set next_tick_at = ?, fires_at = ? where name = 'strict'",
                        hoursAgo(4), database().now());
        node();
        eventually().until(() -> state("strict").lastRun().isPresent());
        assertThat(runs("source = 'strict'")).isEqualTo(1);
        assertThat(state("strict").skippedTicks()).isBetween(3L, 5L);
    }

    @Test
    void thePeriodCountsFromTheEndOfTheLastRunWhereTheJobSaysSo() {
        jobs.save(Job.every("slow", Duration.ofHours(1)).withTopic("slow").withOverlap(Overlap.DELAY));
        node();
        missed("slow", Duration.ofHours(5));
        eventually().until(() -> runs("source = 'slow'") == 1);
        Duration ahead = Duration.between(
                state("slow").lastRun().orElseThrow().createdAt(),
                state("slow").nextTick().orElseThrow());
        assertThat(ahead).isEqualTo(Duration.ofHours(1));

        missed("slow", Duration.ofSeconds(1));
        eventually().until(() -> state("slow").nextTick().orElseThrow().isAfter(Instant.now()));
        assertThat(runs("source = 'slow'")).as("one is unfinished").isEqualTo(1);
        assertThatThrownBy(() -> jobs.trigger("slow")).isInstanceOf(UnfinishedRunException.class);

        windlass.outbox().ack(owner, claim(windlass));
        Instant end = state("slow").lastRun().orElseThrow().endedAt().orElseThrow();
        missed("slow", Duration.ofSeconds(1));
        eventually().until(() -> state("slow").nextTick().orElseThrow().equals(end.plus(Duration.ofHours(1))));
        assertThat(runs("source = 'slow'")).as("the last has just ended").isEqualTo(1);

        database()
                .update("update %s.outbox_job_run set ended_at = " + database().plus("ended_at", Duration.ofHours(-2)));
        missed("slow", Duration.ofSeconds(1));
        eventually().until(() -> runs("source = 'slow'") == 2);
        assertThat(state("slow").skippedTicks()).isZero();
    }

    @Test
    void aRunWhoseMessageIsGoneIsNotWaitedFor() {
        jobs.save(rare("strict").withOverlap(Overlap.SKIP));
        JobRun first = jobs.trigger("strict");
        assertThatThrownBy(() -> jobs.trigger("strict")).isInstanceOf(UnfinishedRunException.class);
        database().update("delete from %s.outbox");
        assertThat(read(first).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(read(first).lastError()).contains("its message is gone");
        assertThat(jobs.trigger("strict").id()).isNotEqualTo(first.id());
    }
}
