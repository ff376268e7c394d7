package dev.windlass.internal.schema;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the grant script of the inbox gives, where functions are not for everybody. */
final class InboxRightsTest {
    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    @BeforeEach
    void createRoles() throws SQLException {
        database.execute("create role \"inbox Program\"");
        database.execute("create role inbox_stranger");
        database.execute("alter default privileges revoke execute on functions from public");
        database.migrator(Component.outbox("jobs_outbox")).migrate();
        database.execute(database.migrator(Component.outbox("jobs_outbox")).grants("inbox_stranger"));
        database.migrator(Component.inbox("jobs_inbox")).migrate();
        database.execute(database.migrator(Component.inbox("jobs_inbox")).grants("inbox Program"));
    }

    @AfterEach
    void dropRoles() throws SQLException {
        database.execute("alter default privileges grant execute on functions to public");
        for (String role : new String[] {"\"inbox Program\"", "inbox_stranger"}) {
            database.execute("drop owned by " + role);
            database.execute("drop role " + role);
        }
    }

    private boolean may(String role, String right) throws SQLException {
        return database.list("select has_table_privilege('" + role + "', '%s.jobs_inbox', '" + right + "')")
                .get(0)
                .equals("t");
    }

    private boolean mayCall(String role) throws SQLException {
        return database.list("select bool_and(has_function_privilege('" + role + "', oid, 'execute')) from pg_proc"
                        + " where pronamespace = to_regnamespace('%s') and proname like 'jobs\\_inbox\\_%'")
                .get(0)
                .equals("t");
    }

    @Test
    void theProgramMayUseTheInbox() throws SQLException {
        for (String right : new String[] {"select", "insert", "update", "delete"}) {
            assertThat(may("inbox Program", right)).as(right).isTrue();
        }
        assertThat(may("inbox Program", "truncate")).isFalse();
        assertThat(mayCall("inbox Program")).isTrue();
    }

    @Test
    void whoMayUseTheOutboxOnlyMayNotUseTheInbox() throws SQLException {
        assertThat(may("inbox_stranger", "select")).isFalse();
        assertThat(mayCall("inbox_stranger")).isFalse();
    }
}
