package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the doctor says about work that nobody does. */
final class DoctorWorkTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final DataSource DATABASE = SERVER.dataSource();
    private static final String UNHANDLED = "handlers: outbox: nobody takes messages of topic a.topic";

    @BeforeEach
    void migrate() throws SQLException {
        Windlass.on(DATABASE)
                .options(WindlassOptions.defaults().withSchemaName("doctor_work_test"))
                .migrator()
                .migrate();
        messages(50, 0, "a.topic", "next_attempt_at", "now() - interval '2 days'");
    }

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(DATABASE, "drop schema if exists doctor_work_test cascade");
    }

    private static String doctor() {
        return Ran.windlass(
                        "doctor",
                        "--url",
                        SERVER.jdbcUrl(),
                        "--user",
                        SERVER.user(),
                        "--password",
                        SERVER.password(),
                        "--schema",
                        "doctor_work_test")
                .out();
    }

    private static void messages(int count, int status, String topic, String columns, String values)
            throws SQLException {
        Sql.execute(
                DATABASE,
                "insert into doctor_work_test.outbox (id, created_at, status, topic, payload"
                        + (columns.contains("next_attempt_at") ? "" : ", next_attempt_at") + ", " + columns
                        + ") select gen_random_uuid(), now(), " + status + ", '" + topic + "', 'x'"
                        + (columns.contains("next_attempt_at") ? "" : ", now()") + ", " + values
                        + " from generate_series(1, " + count + ") n");
    }

    @Test
    void whatFailedLongAgoTellsOfNoHandler() throws SQLException {
        messages(
                1,
                3,
                "a.topic",
                "claimed_at, ended_at",
                "now() - interval '40 days 1 second', now() - interval '40 days'");
        assertThat(doctor()).contains(UNHANDLED);
        messages(1, 3, "a.topic", "claimed_at, ended_at", "now() - interval '1 hour', now()");
        assertThat(doctor()).doesNotContain(UNHANDLED);
    }

    @Test
    void whatExpiredTellsOfNoHandler() throws SQLException {
        messages(1, 3, "a.topic", "expires_at, ended_at", "now() - interval '1 second', now()");
        messages(
                1,
                3,
                "a.topic",
                "claimed_at, expires_at, ended_at",
                "now() - interval '1 day', now() - interval '1 second', now()");
        assertThat(doctor()).contains(UNHANDLED);
    }

    @Test
    void whatIsStuckTellsOfNoHandlerAndWhatIsInProgressDoes() throws SQLException {
        messages(1, 1, "a.topic", "claimed_at, locked_until", "now() - interval '3 hours', now() - interval '2 hours'");
        assertThat(doctor()).contains(UNHANDLED);
        messages(
                1, 1, "a.topic", "claimed_at, locked_until", "now() - interval '3 hours', now() + interval '1 minute'");
        assertThat(doctor()).doesNotContain(UNHANDLED);
    }

    @Test
    void whatWasDoneLatelyTellsOfAHandler() throws SQLException {
        messages(1, 2, "a.topic", "ended_at", "now() - interval '6 minutes'");
        assertThat(doctor()).contains(UNHANDLED);
        messages(1, 2, "a.topic", "ended_at", "now() - interval '4 minutes'");
        assertThat(doctor()).doesNotContain(UNHANDLED);
    }

    @Test
    void whereNotAllCouldBeLookedAtThatIsSaid() throws SQLException {
        try (Connection snapshot = DATABASE.getConnection();
                Statement statement = snapshot.createStatement()) {
            snapshot.setAutoCommit(false);
            snapshot.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.execute("select 1");
            Sql.execute(DATABASE, "truncate doctor_work_test.outbox");
            messages(60_000, 0, "b' || n % 300 || '", "next_attempt_at", "now() + interval '1 hour'");
            Sql.execute(DATABASE, "delete from doctor_work_test.outbox");
            messages(60_000, 0, "z.topic ' || n || '", "next_attempt_at", "now() - interval '1 hour'");
            assertThat(doctor())
                    .containsPattern(
                            "warning +work: outbox: (not all could be looked at|at least .* not all could be looked at)");
        }
    }
}
