package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.OnEveryEngine;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Schedule;
import dev.windlass.schedule.ScheduleOptions;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Nodes make the runs of jobs at their ticks. */
@OnEveryEngine
final class JobNodeConformance extends JobsConformance {

    @Test
    void aTickBecomesAMessageWithTheRunsId() {
        jobs.save(rare("job").withPayload("{\"n\":1}"));
        missed("job", Duration.ofSeconds(5));
        Instant tick = state("job").nextTick().orElseThrow();
        node();
        eventually().until(() -> state("job").lastRun().isPresent());
        JobRun run = state("job").lastRun().orElseThrow();
        assertThat(run.tick()).isEqualTo(tick);
        assertThat(run.triggered()).isFalse();
        assertThat(run.status()).isEqualTo(WorkStatus.READY);
        assertThat(run.messageId())
                .contains(new OutboxMessageIdentifier(run.id().value()));
        OutboxMessage message =
                windlass.outbox().find(run.messageId().orElseThrow()).orElseThrow();
        assertThat(message.topic()).isEqualTo("topic");
        assertThat(message.payload()).isEqualTo("{\"n\":1}");
        assertThat(message.correlationId()).contains("job-run-" + run.id().value());
        assertThat(message.dueTime()).contains(tick);
        assertThat(message.headers()).isEqualTo(Map.of("windlass-job", "job", "windlass-tick", tick.toString()));
        assertThat(state("job").nextTick().orElseThrow()).isAfter(database().now());
    }

    @Test
    void aHandlerGetsEveryTickInOrder() {
        Queue<Instant> ticks = new ConcurrentLinkedQueue<>();
        database()
                .start(database()
                        .windlass()
                        .outboxHandler(
                                "topic",
                                message -> ticks.add(
                                        Instant.parse(message.headers().get("windlass-tick")))));
        jobs.save(Job.every("job", Duration.ofSeconds(1)).withTopic("topic").withMisfire(Misfire.all(100)));
        eventually().until(() -> ticks.size() >= 3);
        List<Instant> seen = List.copyOf(ticks);
        for (int i = 1; i < seen.size(); i++) {
            assertThat(seen.get(i)).isEqualTo(seen.get(0).plusSeconds(i));
        }
        eventually().until(() -> runs("status = 2") >= 3);
    }

    @Test
    void missedTicksMakeOneRunForTheLatest() {
        missedTicks(Misfire.once());
        eventually().until(() -> state("job").lastRun().isPresent());
        JobRun run = state("job").lastRun().orElseThrow();
        assertThat(runs("source = 'job'")).isEqualTo(1);
        assertThat(Duration.between(run.tick(), run.createdAt())).isLessThan(Duration.ofHours(1));
        assertThat(state("job").skippedTicks()).isIn(9L, 10L, 11L);
        assertThat(state("job").lastSkippedAt()).isPresent();
    }

    @Test
    void missedTicksMakeARunEachUpToTheMost() {
        missedTicks(Misfire.all(4));
        eventually().until(() -> state("job").lastRun().isPresent());
        List<JobRun> found = jobs.runs("job", 10);
        assertThat(found).hasSize(4);
        for (int i = 1; i < found.size(); i++) {
            assertThat(found.get(i).tick()).isEqualTo(found.get(0).tick().minus(Duration.ofHours(i)));
        }
        assertThat(state("job").lastRun()).contains(found.get(0));
        assertThat(state("job").skippedTicks()).isIn(6L, 7L, 8L);
    }

    @Test
    void ticksThatAreTooLateMakeNoRun() {
        jobs.save(Job.every("job", Duration.ofDays(2)).withTopic("topic").withMisfire(Misfire.skip()));
        missed("job", Duration.ofHours(10));
        node();
        eventually().until(() -> state("job").skippedTicks() == 1);
        assertThat(runs("1 = 1")).isZero();
        assertThat(messages("1 = 1")).isZero();
        assertThat(state("job").nextTick().orElseThrow()).isAfter(database().now());
    }

    private void missedTicks(Misfire rule) {
        jobs.save(Job.cron("job", "0 * * * *", UTC).withTopic("topic").withMisfire(rule));
        Instant first = hoursAgo(10);
        database().update("update %s.outbox_job set next_tick_at = ?, fires_at = ?", first, first);
        node();
    }

    @Test
    void aPausedJobMakesNoRunsAndMissesNone() {
        jobs.save(Job.every("job", Duration.ofSeconds(1)).withTopic("topic"));
        assertThat(jobs.pause("job")).isTrue();
        assertThat(jobs.pause("job")).isFalse();
        assertThat(state("job").isPaused()).isTrue();
        assertThat(state("job").firesAt()).isEmpty();
        jobs.save(Job.every("other", Duration.ofSeconds(1)).withTopic("topic"));
        node();
        eventually().until(() -> runs("source = 'other'") >= 2);
        assertThat(runs("source = 'job'")).isZero();
        Instant resumed = database().now();
        assertThat(jobs.resume("job")).isTrue();
        assertThat(jobs.resume("job")).isFalse();
        eventually().until(() -> runs("source = 'job'") >= 1);
        List<JobRun> found = jobs.runs("job", 100);
        assertThat(found.get(found.size() - 1).tick()).isAfter(resumed);
        assertThat(state("job").isPaused()).isFalse();
    }

    @Test
    void aTickFiresWithinItsJitter() {
        Duration jitter = Duration.ofSeconds(2);
        node();
        jobs.save(Job.every("job", Duration.ofSeconds(1))
                .withTopic("topic")
                .withJitter(jitter)
                .withMisfire(Misfire.all(100)));
        for (int ticks = 1; ticks <= 3; ticks++) {
            int wanted = ticks;
            eventually().until(() -> runs("source = 'job'") >= wanted);
            JobState state = state("job");
            assertThat(Duration.between(
                            state.nextTick().orElseThrow(), state.firesAt().orElseThrow()))
                    .isBetween(Duration.ZERO, jitter);
        }
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_job_run where created_at < tick_at"))
                .isZero();
    }

    /** As an old node during a rolling deploy does not understand what a new one has saved. */
    @Test
    void aJobThatThisNodeDoesNotUnderstandIsLeftToOthersForAMinute() {
        jobs.save(rare("newer"));
        database().update("update %s.outbox_job set cron = 'every full moon' where name = 'newer'");
        missed("newer", Duration.ofSeconds(1));
        jobs.save(Job.every("healthy", Duration.ofSeconds(1)).withTopic("topic"));
        node();
        eventually().until(() -> runs("source = 'healthy'") >= 2);
        assertThat(state("newer").problem()).isEmpty();
        assertThat(state("newer").firesAt().orElseThrow()).isBefore(database().now());
    }

    @Test
    void aJobThatNobodyUnderstandsSaysSoAndOthersGoOn() {
        jobs.save(rare("broken"));
        jobs.save(rare("lost in space"));
        database().update("update %s.outbox_job set cron = 'every full moon' where name = 'broken'");
        database().update("update %s.outbox_job set zone = 'Mars/Olympus' where name = 'lost in space'");
        missed("broken", Duration.ofMinutes(2));
        missed("lost in space", Duration.ofMinutes(2));
        jobs.save(Job.every("healthy", Duration.ofSeconds(1)).withTopic("topic"));
        try (Logs logs = Logs.collect(Level.WARN)) {
            node();
            eventually().until(() -> runs("source = 'healthy'") >= 2);
            eventually().until(() -> state("broken").problem().isPresent());
            assertThat(logs.count(Level.WARN, "job broken")).isEqualTo(1);
        }
        assertThat(state("broken").problem().orElseThrow()).contains("every full moon");
        assertThat(state("lost in space").problem().orElseThrow()).contains("Mars/Olympus");
        assertThat(state("broken").job().schedule()).isInstanceOf(Schedule.Unreadable.class);
        assertThat(state("broken").firesAt().orElseThrow())
                .isAfter(database().now().plus(Duration.ofMinutes(8)));
        assertThat(runs("source <> 'healthy'")).isZero();

        jobs.save(rare("broken"));
        assertThat(state("broken").problem()).isEmpty();
        missed("broken", Duration.ofSeconds(30));
        eventually().until(() -> runs("source = 'broken'") == 1);
    }

    @Test
    void aJobWhoseMessageTheDatabaseRefusesSaysSoAndOthersGoOn() {
        database().update("alter table %s.outbox add constraint refused check (topic <> 'refused')");
        try {
            jobs.save(rare("broken").withTopic("refused"));
            jobs.save(rare("healthy"));
            missed("broken", Duration.ofSeconds(30));
            missed("healthy", Duration.ofSeconds(30));
            node();
            eventually().until(() -> runs("source = 'healthy'") == 1);
            eventually().until(() -> state("broken").problem().isPresent());
            assertThat(state("broken").problem().orElseThrow()).contains("refused");
            assertThat(state("broken").firesAt().orElseThrow())
                    .isAfter(database().now());
            assertThat(state("healthy").problem()).isEmpty();
            assertThat(runs("source = 'broken'")).isZero();
        } finally {
            database().update("alter table %s.outbox drop constraint refused");
        }
        database()
                .update(
                        "update %s.outbox_job set fires_at = ? where name = 'broken'",
                        database().now());
        jobs.save(rare("other"));
        eventually().until(() -> runs("source = 'broken'") == 1);
        assertThat(state("broken").problem()).isEmpty();
    }

    @Test
    void aJobThatSomebodyHoldsDoesNotStopTheOthers() throws Exception {
        jobs.save(rare("held"));
        missed("held", Duration.ofSeconds(1));
        jobs.save(rare("free"));
        try (Connection connection = database().transaction()) {
            jobs.save(connection, rare("held").withPayload("new"));
            missed("free", Duration.ofSeconds(1));
            node();
            eventually().until(() -> runs("source = 'free'") == 1);
            assertThat(runs("source = 'held'")).isZero();
            connection.commit();
        }
        eventually().until(() -> runs("source = 'held'") == 1);
        assertThat(messages("payload = 'new'")).isEqualTo(1);
    }

    @Test
    void aTickThatHasRunDoesNotRunAgain() {
        jobs.save(rare("job"));
        missed("job", Duration.ofSeconds(5));
        Instant tick = state("job").nextTick().orElseThrow();
        node();
        eventually().until(() -> runs("1 = 1") == 1);
        JobRun run = state("job").lastRun().orElseThrow();
        jobs.delete("job");
        jobs.save(rare("job"));
        database().update("update %s.outbox_job set next_tick_at = ?, fires_at = ?, version = version + 1", tick, tick);
        jobs.save(rare("other"));
        eventually()
                .until(() ->
                        state("job").nextTick().orElseThrow().isAfter(database().now()));
        assertThat(jobs.runs("job", 10)).extracting(JobRun::id).containsExactly(run.id());
        assertThat(messages("1 = 1")).isEqualTo(1);
    }

    /** What was put off because of a problem fires later than its tick, and that is not its jitter. */
    @Test
    void aJobThatWasInTroubleCatchesUpInOneStep() {
        jobs.save(Job.cron("job", "0 * * * *", UTC).withTopic("topic"));
        database()
                .update(
                        "update %s.outbox_job set next_tick_at = ?, fires_at = ?, problem = 'was broken'",
                        hoursAgo(10), database().now());
        node();
        eventually()
                .until(() ->
                        state("job").nextTick().orElseThrow().isAfter(database().now()));
        assertThat(runs("1 = 1")).isEqualTo(1);
        assertThat(state("job").skippedTicks()).isBetween(9L, 11L);
        assertThat(state("job").problem()).isEmpty();
    }

    @Test
    void runsOfNodesThatDoNotHandOffAreHandedOffByOthers() {
        Jobs plain = passive(ScheduleOptions.defaults().withHandOff(false)).jobs();
        plain.save(rare("job"));
        JobRun run = plain.trigger("job");
        assertThat(run.messageId()).isEmpty();
        assertThat(messages("1 = 1")).isZero();
        node();
        eventually().until(() -> messages("source = 'job'") == 1);
        assertThat(plain.findRun(run.id()).orElseThrow().messageId())
                .contains(new OutboxMessageIdentifier(run.id().value()));
        plain.trigger("job");
        eventually().until(() -> messages("source = 'job'") == 2);
    }

    @Test
    void withoutHandOffRunsStayReady() {
        database()
                .start(database().windlass().schedule(ScheduleOptions.defaults().withHandOff(false)));
        jobs.save(rare("job"));
        missed("job", Duration.ofSeconds(5));
        eventually().until(() -> runs("status = 0") == 1);
        assertThat(messages("1 = 1")).isZero();
    }
}
