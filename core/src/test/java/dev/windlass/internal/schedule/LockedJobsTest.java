package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobSet;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.ZoneOffset;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Somebody has a job locked, or what is behind one. */
final class LockedJobsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static JobSet set(int revision, String cron) {
        return JobSet.of("set", revision)
                .with(Job.cron("job", cron, ZoneOffset.UTC).withTopic("a"));
    }

    private static Connection holdingJobs() throws SQLException {
        Connection connection = database.owner().getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("select 1 from \"" + database.schema() + "\".outbox_job for update");
        }
        return connection;
    }

    @Test
    void aNodeHandlesMessagesAndSavesItsJobsOnceTheyAreFree() throws Exception {
        database.start(database.windlass().jobs(set(1, "0 0 1 1 *"))).close();
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 10)
                        .mapToObj(i -> OutboxEntry.of("b", "x"))
                        .toList());
        try (Connection somebody = holdingJobs();
                Logs logs = Logs.collect(Level.WARN)) {
            Windlass node =
                    database.start(database.windlass().jobs(set(2, "0 0 2 1 *")).outboxHandler("b", message -> {}));
            assertThat(node.isRunning()).isTrue();
            eventually().until(() -> database.count("status = 2") == 10);
            assertThat(logs.count(Level.WARN, "the jobs of this program could not be saved yet"))
                    .isEqualTo(1);

            somebody.rollback();
            eventually()
                    .until(() -> database.value(String.class, "select cron from %s.outbox_job")
                            .equals("0 0 2 1 *"));
            assertThat(logs.count(Level.WARN, "the jobs of this program")).isEqualTo(1);
        }
    }

    private static final String ID = "'00000000-0000-0000-0000-0000000000ff'::uuid";

    /** Somebody is writing the message that one of the runs would become; whether that run is to be left is not known yet. */
    private static String besideAnUncommittedMessage(String call) throws SQLException {
        String schema = "\"" + database.schema() + "\"";
        try (Connection somebody = database.owner().getConnection();
                Statement writing = somebody.createStatement();
                Connection node = database.owner().getConnection();
                Statement statement = node.createStatement()) {
            somebody.setAutoCommit(false);
            writing.execute("insert into " + schema + ".outbox (id, created_at, next_attempt_at, topic, payload)"
                    + " values (" + ID + ", now(), now(), 'b', 'x')");
            statement.execute("set statement_timeout = '30 s'");
            try (ResultSet row = statement.executeQuery(call.replace("%s", schema))) {
                row.next();
                return row.getString(1);
            } finally {
                somebody.rollback();
            }
        }
    }

    private static void twoJobs() throws SQLException {
        database.execute("select %s.outbox_job_save(n, 'a', 'p', null, null, interval '1 hour', now(), now(), now())"
                + " from unnest(array['one', 'two']) n");
    }

    @Test
    void aJobBehindWhichSomethingIsLockedKeepsNoOther() throws SQLException {
        twoJobs();
        String times = "array[now(), now()]";
        assertThat(besideAnUncommittedMessage("select looked_at from %s.outbox_job_take(array['one', 'two'],"
                        + " array[1, 1]::bigint[], " + times + ", " + times
                        + ", array[0, 0]::bigint[], array[1, 2], array[" + ID
                        + ", gen_random_uuid()], " + times + ", true)"))
                .isEqualTo("1");
        assertThat(database.count("topic = 'a'")).isEqualTo(1);
        assertThat(database.value(
                        String.class, "select string_agg(name || version, ' ' order by name) from %s.outbox_job"))
                .isEqualTo("one1 two2");
    }

    @Test
    void aRunBehindWhichSomethingIsLockedKeepsNoOther() throws SQLException {
        twoJobs();
        database.execute("select %s.outbox_job_trigger('one', " + ID + "), %s.outbox_job_trigger('two')");
        assertThat(besideAnUncommittedMessage("select looked_at from %s.outbox_job_run_hand_off()"))
                .isEqualTo("1");
        assertThat(database.value(
                        String.class,
                        "select string_agg(source || status || retry_count, ' ' order by source)"
                                + " from %s.outbox_job_run"))
                .isEqualTo("one00 two60");
    }
}
