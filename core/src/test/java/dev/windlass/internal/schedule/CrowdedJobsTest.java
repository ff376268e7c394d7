package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.Misfire;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** More jobs, or more missed ticks, than a node deals with at once. */
final class CrowdedJobsTest extends JobsConformance {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    /** A transaction that the server does not end, however long it takes until something happens. */
    private static Connection holding() throws SQLException {
        Connection connection = postgres.unpooled().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    @Test
    void manyJobsThatSomebodyHoldsDoNotHideTheOneBehindThem() throws Exception {
        for (int n = 0; n < 250; n++) {
            jobs.save(rare("held " + n));
        }
        jobs.save(rare("free"));
        database()
                .update(
                        "update %s.outbox_job set next_tick_at = clock_timestamp() - interval '1 hour',"
                                + " fires_at = clock_timestamp() - interval '1 hour', version = version + 1 where name <> 'free'");
        missed("free", Duration.ofSeconds(1));
        try (Connection connection = holding();
                Statement statement = connection.createStatement()) {
            statement.execute("select from \"" + database().options().schemaName()
                    + "\".outbox_job where name <> 'free' for update");
            node();
            eventually().until(() -> runs("source = 'free'") == 1);
            assertThat(runs("true")).isEqualTo(1);
            connection.rollback();
        }
        eventually().until(() -> runs("true") == 251);
    }

    /** In one transaction with the second, the runs of the first job would wait for its end. */
    @Test
    void whatSeveralJobsHaveMissedIsMadeUpForJobByJob() throws Exception {
        for (String name : new String[] {"first", "second"}) {
            jobs.save(Job.every(name, Duration.ofSeconds(1)).withTopic("topic").withMisfire(Misfire.all(800)));
            jobs.pause(name);
            database()
                    .update(
                            "update %s.outbox_job set anchor_at = date_trunc('second', anchor_at) - interval '1 hour',"
                                    + " version = version + 1, next_tick_at = date_trunc('second', clock_timestamp()) - interval '1 hour',"
                                    + " fires_at = clock_timestamp() - interval '1 hour', paused_at = null where name = ?",
                            name);
        }
        try (Connection connection = holding();
                Statement statement = connection.createStatement()) {
            statement.execute("insert into \"" + database().options().schemaName() + "\".outbox_job_run"
                    + " (id, source, topic, payload, tick_at, triggered, created_at, next_attempt_at)"
                    + " select gen_random_uuid(), 'second', 'topic', '', date_trunc('second', clock_timestamp()) - n * interval '1 second', false,"
                    + " now(), now() from generate_series(-30, 60) n");
            node();
            eventually().until(() -> runs("source = 'first'") >= 800);
            assertThat(runs("source = 'second'")).isZero();
            connection.rollback();
        }
        eventually().until(() -> runs("source = 'second'") >= 800);
    }
}
