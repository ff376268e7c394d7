package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.JobState;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Programs that bring jobs along while somebody changes the same ones. */
final class JobSetRaceTest extends JobsConformance {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    private Windlass start(JobSet set) {
        return database()
                .start(database()
                        .windlass()
                        .options(database().options().withBackgroundWorkers(false))
                        .jobs(set));
    }

    @Test
    void aProgramStartsThoughAJobThatItNoLongerBringsIsDeletedAtTheSameTime() throws Exception {
        start(JobSet.of("set", 1).with(rare("old"), rare("kept")));
        try (Connection connection = database().transaction()) {
            jobs.delete(connection, "old");
            CompletableFuture<Windlass> starting = CompletableFuture.supplyAsync(
                    () -> start(JobSet.of("set", 2).with(rare("kept"))));
            eventually()
                    .until(() -> database()
                                    .value(
                                            Long.class,
                                            "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                                    + " and query like '%outbox_job_set_sync%'")
                            == 1);
            connection.commit();
            assertThat(starting.get(30, TimeUnit.SECONDS).isRunning()).isTrue();
        }
        assertThat(jobs.list()).extracting(JobState::name).containsExactly("kept");
    }
}
