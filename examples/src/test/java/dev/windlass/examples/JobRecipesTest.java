package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.WorkStatus;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.testkit.WindlassExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class JobRecipesTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final List<String> reports = new CopyOnWriteArrayList<>();

    private Windlass start() {
        return database.start(JobRecipes.handling(database.windlass(), reports::add));
    }

    @Test
    void aReportRunsEachNightAndWhenItIsTriggered() {
        Windlass windlass = start();
        JobRecipes.save(windlass);

        database.advance(Duration.ofDays(1));
        database.drain();
        assertThat(reports).hasSize(1);
        JobRun run = JobRecipes.trigger(windlass);
        database.drain();

        assertThat(reports).hasSize(2);
        assertThat(windlass.jobs().findRun(run.id()).orElseThrow().status()).isEqualTo(WorkStatus.DONE);
        assertThat(JobRecipes.look(windlass)).contains("last run DONE").endsWith("2 runs");
        JobRecipes.rest(windlass);
        assertThat(windlass.jobs().find("nightly-report").orElseThrow().isPaused())
                .isFalse();
    }

    @Test
    void aJobAndItsCodeAreGivenInOneCall() {
        database.start(JobRecipes.inOneCall(database.windlass(), reports::add));
        database.advance(Duration.ofMinutes(10));
        database.drain();
        assertThat(reports).hasSize(1);
    }

    @Test
    void aJobWithAPeriodIsSavedAndDeleted() {
        Windlass windlass = start();
        JobRecipes.every(windlass);
        JobRecipes.delay(windlass);
        assertThat(windlass.jobs().list()).extracting(JobState::name).containsExactly("poll-bank", "sync-stock");
        JobRecipes.delete(windlass);
        assertThat(windlass.jobs().list()).extracting(JobState::name).containsExactly("sync-stock");
    }

    @Test
    void aProgramBringsItsJobsAlong() {
        Windlass windlass = database.start(JobRecipes.declared(database.windlass()));
        assertThat(windlass.jobs().list())
                .extracting(JobState::name)
                .containsExactly("dunning", "invoices", "poll-payments");
    }

    @Test
    void aProgramHandlesRunsItself() {
        Windlass windlass = database.start(
                database.windlass().schedule(ScheduleOptions.defaults().withHandOff(false)));
        JobRecipes.save(windlass);
        JobRun run = JobRecipes.trigger(windlass);

        JobRecipes.claim(windlass, claimed -> reports.add(claimed.payload()));

        assertThat(reports).containsExactly("{\"format\": \"pdf\"}");
        assertThat(windlass.jobs().findRun(run.id()).orElseThrow().status()).isEqualTo(WorkStatus.DONE);
    }
}
