package dev.windlass.internal.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The user that only looks, where functions are not for everybody. */
final class ReaderTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @BeforeAll
    static void createReader() throws SQLException {
        database.execute("create role \"windlass Reader\"");
        database.execute("revoke execute on all functions in schema %s from public");
        database.execute(database.windlass().migrator().readGrants("windlass Reader"));
        database.execute("grant \"windlass Reader\" to current_user");
    }

    @AfterAll
    static void dropReader() throws SQLException {
        database.execute("drop owned by \"windlass Reader\"");
        database.execute("drop role \"windlass Reader\"");
    }

    private static void asReader(String sql) throws SQLException {
        try (Connection connection = database.owner().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("set role \"windlass Reader\"");
            statement.execute(sql.replace("%s", "\"" + database.schema() + "\""));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"outbox", "outbox_timer", "outbox_job_run", "inbox", "work"})
    void mayAskAllDiagnosticsOfEachQueue(String queue) throws SQLException {
        for (String call : new String[] {
            "measure(10)",
            "totals()",
            "stuck()",
            "lapsed()",
            "leases()",
            "list(10)",
            "list(10, 0)",
            "list(10, 1)",
            "list(10, 3, 'a')",
            "failures(gen_random_uuid())",
            "ready_topics()",
            "decided_topics()",
            "actions(10)"
        }) {
            asReader("select * from %s." + queue + "_" + call);
        }
        asReader("select * from %s." + queue + "_listed");
        asReader("select topic, status, count(*) from %s." + queue + " group by 1, 2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "outbox_timer_delays()",
                "outbox_job_run_delays()",
                "lease_active()",
                "lease_contention()",
                "lease_list()",
                "lease_find('a')",
                "inbox_list_seen(10)",
                "outbox_job_runs('a', 10)",
                "windlass_join_members(gen_random_uuid())"
            })
    void mayAskWhatIsNotAboutAQueue(String call) throws SQLException {
        asReader("select * from %s." + call);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select payload from %s.outbox",
                "select headers from %s.outbox",
                "select * from %s.outbox",
                "select o from %s.outbox o",
                "select owner_token from %s.outbox",
                "select * from %s.outbox_find(gen_random_uuid())",
                "select payload from %s.outbox_timer",
                "select payload from %s.outbox_job",
                "select payload from %s.outbox_job_run",
                "select payload from %s.inbox",
                "select result from %s.work",
                "select * from %s.work_items",
                "select * from %s.inbox_find_key('a', 'b')",
                "select * from %s.windlass_join",
                "select metadata from %s.windlass_join"
            })
    void mayNotReadContent(String sql) {
        assertDenied(sql);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "insert into %s.outbox (id, created_at, next_attempt_at, topic, payload)"
                        + " values (gen_random_uuid(), now(), now(), 'a', 'x')",
                "update %s.outbox set topic = 'b'",
                "delete from %s.outbox",
                "delete from %s.outbox_failure",
                "update %s.windlass_topic set topic = 'b'",
                "update %s.windlass_watch set seen_at = now()",
                "delete from %s.lease",
                "select topic from %s.outbox for update",
                "select nextval('%s.lease_token')",
                "select * from %s.outbox_claim(gen_random_uuid(), '1 min', 1)",
                "select %s.outbox_enqueue('a', 'x')",
                "select %s.outbox_pause_topic('me', 'a')",
                "select %s.outbox_reap('1 min')"
            })
    void mayChangeNothing(String sql) {
        assertDenied(sql);
    }

    private static void assertDenied(String sql) {
        assertThatThrownBy(() -> asReader(sql))
                .isInstanceOf(SQLException.class)
                .extracting(e -> ((SQLException) e).getSQLState())
                .isEqualTo("42501");
    }

    @Test
    void grantingTwiceIsHarmless() throws SQLException {
        database.execute(database.windlass().migrator().readGrants("windlass Reader"));
        assertThat(database.windlass().migrator().readGrants("windlass Reader")).doesNotContain("_claim\"");
    }
}
