package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.UnknownJobException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Of whatever many do at once, each tick makes one run. */
@OnEveryEngine
final class JobRaceConformance extends JobsConformance {

    @Test
    void severalNodesMakeOneRunOfEachTick() {
        List<String> names = IntStream.range(0, 5).mapToObj(n -> "job " + n).toList();
        for (int n = 0; n < 4; n++) {
            database().start(database().windlass().outboxHandler("topic", message -> {}));
        }
        names.forEach(name -> jobs.save(
                Job.every(name, Duration.ofSeconds(1)).withTopic("topic").withMisfire(Misfire.all(1000))));
        eventually().until(() -> runs("status = 2") >= 25);
        names.forEach(jobs::pause);
        names.forEach(this::everyTickHasOneRun);
        assertThat(messages("source = 'job'")).isEqualTo(runs("1 = 1"));
    }

    private void everyTickHasOneRun(String name) {
        List<JobRun> found = jobs.runs(name, 1000);
        for (int i = 1; i < found.size(); i++) {
            assertThat(found.get(i).tick()).isEqualTo(found.get(0).tick().minusSeconds(i));
        }
        assertThat(state(name).skippedTicks()).isZero();
    }

    @Test
    void aTickIsTakenOnceWhoeverComputedIt() throws Exception {
        JobStore store = new JobStore(database().routines(), "outbox");
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try {
            for (int round = 0; round < 15; round++) {
                String name = "job " + round;
                jobs.save(rare(name));
                missed(name, Duration.ofSeconds(3));
                List<JobStore.Firing> due = database()
                        .routines()
                        .once(connection -> store.due(connection, 10))
                        .jobs();
                Callable<Boolean> take = () -> {
                    List<JobStore.Planned> planned = due.stream()
                            .map(job -> new JobStore.Planned(
                                    job,
                                    new JobPlan(
                                            List.of(job.tick()), 1, job.tick().plusSeconds(100_000)),
                                    job.tick().plusSeconds(100_000)))
                            .toList();
                    List<java.util.UUID> ids =
                            due.stream().map(job -> java.util.UUID.randomUUID()).toList();
                    database().routines().once(connection -> store.take(connection, planned, ids, true));
                    return true;
                };
                for (Future<Boolean> taken : threads.invokeAll(List.of(take, take, take, take, take, take))) {
                    assertThat(taken.get()).isTrue();
                }
                assertThat(runs("source = '" + name + "'")).isEqualTo(1);
                assertThat(messages("source = 'job'")).isEqualTo(round + 1);
                assertThat(state(name).skippedTicks()).isEqualTo(1);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void changesDeletionsAndTriggersLeaveNoRunBehindWhileNodesMakeRuns() throws Exception {
        for (int n = 0; n < 3; n++) {
            node();
        }
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Boolean>> work = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Windlass by = passive(ScheduleOptions.defaults().withHandOff(thread % 2 == 0));
                work.add(() -> {
                    for (int i = 0; i < 40; i++) {
                        by.jobs().save(rare("job").withPayload("p" + i));
                        missed("job", Duration.ofSeconds(i));
                        ignoringUnknown(() -> by.jobs().trigger("job"));
                        ignoringUnknown(() -> by.jobs().delete("job"));
                    }
                    return true;
                });
            }
            for (Future<Boolean> done : threads.invokeAll(work)) {
                assertThat(done.get()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(jobs.find("job")).isEmpty();
        eventually().until(() -> runs("ended_at is null") == 0);
        assertThat(messages("ended_at is null")).isZero();
        assertThat(runs("status <> 5")).isZero();
    }

    private static void ignoringUnknown(Runnable call) {
        try {
            call.run();
        } catch (UnknownJobException e) {
            assertThat(e.jobName()).isEqualTo("job");
        }
    }
}
