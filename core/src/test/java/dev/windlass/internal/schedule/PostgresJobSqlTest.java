package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.base.WorkStatus;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs from psql or any other language. */
final class PostgresJobSqlTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private Jobs jobs;

    @BeforeEach
    void saveJob() {
        jobs = database.passive().jobs();
        jobs.save(JobsConformance.rare("nightly"));
    }

    private static <T> T call(Class<T> type, String sql) {
        return database.value(type, "select " + sql);
    }

    @Test
    void aJobIsTriggeredByItsName() {
        UUID id = call(UUID.class, "run_id from %s.outbox_job_trigger('nightly')");
        assertThat(jobs.findRun(new JobRunIdentifier(id)).orElseThrow().status())
                .isEqualTo(WorkStatus.READY);
        assertThat(call(UUID.class, "id from %s.outbox_job_runs('nightly')")).isEqualTo(id);
        assertThat(call(Integer.class, "looked_at from %s.outbox_job_run_hand_off()"))
                .isEqualTo(1);
        assertThat(database.count("id = '" + id + "' and source = 'job'")).isEqualTo(1);
    }

    @Test
    void aJobIsPausedResumedAndDeletedByItsName() {
        assertThat(call(Boolean.class, "%s.outbox_job_pause('nightly')")).isTrue();
        assertThat(call(Boolean.class, "%s.outbox_job_pause('nightly')")).isFalse();
        assertThat(
                        call(
                                Boolean.class,
                                "%s.outbox_job_resume('nightly', (select version from %s.outbox_jobs('nightly')), now(), now())"))
                .isTrue();
        assertThat(call(Boolean.class, "%s.outbox_job_resume('nightly', 1, now(), now())"))
                .isFalse();
        call(UUID.class, "run_id from %s.outbox_job_trigger('nightly')");
        assertThat(call(Integer.class, "%s.outbox_job_delete('nightly')")).isEqualTo(1);
        assertThat(call(Long.class, "count(*) from %s.outbox_jobs()")).isZero();
    }

    @Test
    void aJobIsSavedWithTheTickGiven() {
        assertThat(call(
                        Boolean.class,
                        "%s.outbox_job_save('hourly', 'topic', '{}', '0 * * * *', 'UTC', null, null, now(), now())"))
                .isTrue();
        assertThat(jobs.find("hourly").orElseThrow().job())
                .isEqualTo(Job.cron("hourly", "0 * * * *", JobsConformance.UTC).withTopic("topic"));
        assertThat(call(
                        Boolean.class,
                        "%s.outbox_job_save('often', 'topic', 'x', null, null, '1 day', now(), now(), now(), p_misfire => 2,"
                                + " p_misfire_after => '1 hour', p_jitter => '1 min', p_overlap => 1)"))
                .isTrue();
        assertThat(jobs.find("often").orElseThrow().job())
                .isEqualTo(Job.every("often", Duration.ofDays(1))
                        .withTopic("topic")
                        .withPayload("x")
                        .withMisfire(Misfire.skip(Duration.ofHours(1)))
                        .withJitter(Duration.ofMinutes(1))
                        .withOverlap(Overlap.SKIP));
    }

    private static UUID failed() {
        UUID id = call(UUID.class, "run_id from %s.outbox_job_trigger('nightly', p_hand_off => true)");
        call(Integer.class, """
                changed from %s.outbox_fail(array(select id from %s.outbox_claim('00000000-0000-4000-8000-000000000001', '1 min', 1)),
                                            array['00000000-0000-4000-8000-000000000001'::uuid])""");
        return id;
    }

    /** Who requeues a message locks it before its run: to wait for the message with the run locked would be a deadlock. */
    @Test
    @Timeout(60)
    void aRunWhoseMessageSomebodyHasLockedIsNotRequeuedAndNobodyWaits() throws SQLException {
        UUID held = failed();
        failed();
        try (Connection other = database.dataSource().getConnection()) {
            other.setAutoCommit(false);
            database.lock(other, "outbox", "id = ?", held);
            assertThat(call(Integer.class, "messages from %s.outbox_job_run_requeue('me', p_all => true)"))
                    .isEqualTo(1);
            other.rollback();
        }
        assertThat(call(Integer.class, "messages from %s.outbox_job_run_requeue('me', p_all => true)"))
                .isEqualTo(1);
    }

    @Test
    void nothingIsLeftOfARunThatWasTriedAndThenHandedOff() throws SQLException {
        UUID id = call(UUID.class, "run_id from %s.outbox_job_trigger('nightly')");
        call(Integer.class, """
                changed from %s.outbox_job_run_abandon(
                    array(select id from %s.outbox_job_run_claim('00000000-0000-4000-8000-000000000001', '1 min', 1)),
                    array['00000000-0000-4000-8000-000000000001'::uuid], array[interval '0'])""");
        call(Integer.class, "looked_at from %s.outbox_job_run_hand_off()");
        call(Integer.class, "%s.outbox_cancel(array['" + id + "'::uuid])");
        assertThat(call(Long.class, "count(*) from %s.outbox_job_run_failures('" + id + "')"))
                .isEqualTo(1);
        database.execute("update %s.outbox_job set last_run_id = null");
        assertThat(call(Integer.class, "%s.outbox_job_run_clean('0')")).isEqualTo(1);
        assertThat(call(Long.class, "count(*) from %s.outbox_job_run_failure")).isZero();
    }

    @Test
    void anUnknownJobIsToldByNull() {
        assertThat(call(UUID.class, "run_id from %s.outbox_job_trigger('weekly')"))
                .isNull();
        assertThat(call(Boolean.class, "%s.outbox_job_pause('weekly')")).isNull();
        assertThat(call(Integer.class, "%s.outbox_job_delete('weekly')")).isNull();
        jobs.save(JobsConformance.rare("strict").withOverlap(Overlap.SKIP));
        UUID id = call(UUID.class, "run_id from %s.outbox_job_trigger('strict')");
        assertThat(call(UUID.class, "unfinished_id from %s.outbox_job_trigger('strict') where run_id is null"))
                .isEqualTo(id);
    }

    /** Whatever the planner believes of the tables: a look reads what is due, not all jobs and runs. */
    @Test
    void aLookCostsTheSameHoweverManyJobsAndRunsThereAre() throws SQLException {
        database.execute("""
                insert into %s.outbox_job (name, version, topic, payload, cron, zone, misfire, overlap, jitter, next_tick_at,
                                           fires_at, created_at, updated_at)
                select 'job ' || n, 1, 't', '', '@daily', 'UTC', 0, 1, '0', now() + interval '1 day', now() + interval '1 day',
                       now(), now()
                  from generate_series(1, 5000) n""");
        database.execute("""
                insert into %s.outbox_job_run (id, source, topic, payload, tick_at, triggered, created_at, next_attempt_at, ended_at, status)
                select gen_random_uuid(), 'job ' || n % 500, 'topic ' || n % 5, '', now() + n * interval '1 s', false, now(), now(), now(), 2
                  from generate_series(1, 30000) n""");
        assertThat(buffers("select * from %s.outbox_job_due()")).isLessThan(60);
        assertThat(buffers("select * from %s.outbox_job_runs('job 3', 10)")).isLessThan(120);
        assertThat(buffers("select * from %s.outbox_job_run_hand_off()")).isLessThan(60);
        assertThat(buffers("select %s.outbox_job_run_end_lost()")).isLessThan(60);
        assertThat(buffers("select %s.outbox_job_run_clean('1 day')")).isLessThan(60);
        assertThat(buffers("select * from %s.outbox_job_trigger('job 3')")).isLessThan(200);
        assertThat(buffers("select * from %s.outbox_job_run_claim(gen_random_uuid(), '1 min', 10)"))
                .isLessThan(100);
    }

    /** The second time, when what a session reads once of the catalogue has been read; undone. */
    private static int buffers(String sql) throws SQLException {
        String explain = "explain (analyze, buffers, format json) " + sql.replace("%s", database.schema());
        try (Connection connection = database.owner().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("savepoint before");
            try {
                statement.execute(explain);
            } finally {
                statement.execute("rollback to before");
            }
            try (ResultSet row = statement.executeQuery(explain)) {
                row.next();
                String hits = row.getString(1).split("\"Shared Hit Blocks\": ", 2)[1];
                String reads = row.getString(1).split("\"Shared Read Blocks\": ", 2)[1];
                return Integer.parseInt(hits.split(",", 2)[0]) + Integer.parseInt(reads.split(",", 2)[0]);
            } finally {
                connection.rollback();
            }
        }
    }
}
