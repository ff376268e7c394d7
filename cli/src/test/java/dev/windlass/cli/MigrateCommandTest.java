package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class MigrateCommandTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final DataSource DATABASE = SERVER.dataSource();
    private static final String SCHEMA = "migrate \"command\"";
    private static final String QUOTED = "\"migrate \"\"command\"\"\"";

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(DATABASE, "drop schema if exists " + QUOTED + " cascade; drop role if exists migrate_app");
    }

    @Test
    void theFirstRunCreatesAndTheSecondFindsNothingToDo() throws SQLException {
        Ran first = migrate("--table", "post");
        assertThat(first.exitCode()).isZero();
        assertThat(first.out()).contains("has been brought up to date").contains("table post at version");
        assertThat(table("post")).isNotEqualTo("null");

        Ran second = migrate("--table", "post");
        assertThat(second.exitCode()).isZero();
        assertThat(second.out()).contains("was up to date already");
    }

    @Test
    void dryRunPrintsTheSqlAndChangesNothing() throws SQLException {
        Ran ran = migrate("--dry-run");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out()).contains("create table " + QUOTED + ".\"outbox\"");
        assertThat(table("outbox")).isEqualTo("null");
    }

    @Test
    void whatDryRunPrintsIsWhatMigrateDoes() throws SQLException {
        Sql.execute(DATABASE, migrate("--dry-run").out());
        Ran next = migrate("--dry-run");
        assertThat(next.out()).startsWith("-- ").contains("is up to date").hasLineCount(1);
    }

    @Test
    void fullSqlNeedsNoDatabaseAndIsComplete() throws SQLException {
        Ran full = Ran.windlass("migrate", "--full", "--schema", SCHEMA);
        assertThat(full.exitCode()).isZero();
        Sql.execute(DATABASE, full.out());
        assertThat(migrate().out()).contains("was up to date already");
    }

    @Test
    void whoMayOnlyReadGetsTheRightsForThat() throws SQLException {
        Sql.execute(DATABASE, "create role migrate_app");
        Ran ran = migrate("--grant-read-to", "migrate_app");
        assertThat(ran.err()).isEmpty();
        assertThat(ran.out()).contains("role \"migrate_app\" may look at Windlass there");
        assertThat(Sql.value(
                        DATABASE,
                        "select has_any_column_privilege('migrate_app', '" + QUOTED + ".outbox', 'select') and not"
                                + " has_column_privilege('migrate_app', '" + QUOTED
                                + ".outbox', 'payload', 'select') and not"
                                + " has_any_column_privilege('migrate_app', '" + QUOTED + ".outbox', 'update')"))
                .isEqualTo("t");
        assertThat(migrate("--dry-run", "--grant-read-to", "migrate_app").out()).contains("to \"migrate_app\";");
        Sql.execute(DATABASE, "drop owned by migrate_app");
    }

    @Test
    void grantsGoToTheRole() throws SQLException {
        Sql.execute(DATABASE, "create role migrate_app");
        Ran ran = migrate("--grant-to", "migrate_app");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out()).contains("role \"migrate_app\" may run Windlass");
        assertThat(mayInsert()).isEqualTo("t");
    }

    @Test
    void dryRunPrintsGrantsWithoutRunningThem() throws SQLException {
        Sql.execute(DATABASE, "create role migrate_app");
        migrate();
        assertThat(migrate("--dry-run", "--grant-to", "migrate_app").out()).contains("to \"migrate_app\";");
        assertThat(mayInsert()).isEqualTo("f");
    }

    @Test
    void unknownRoleIsOneSentence() {
        Ran ran = migrate("--grant-to", "migrate_nobody");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("role \"migrate_nobody\" does not exist").hasLineCount(1);
    }

    @Test
    void userWithoutTheRightToCreateGetsOneSentence() throws SQLException {
        Sql.execute(DATABASE, "create role migrate_app login");
        Ran ran = Ran.windlass("migrate", "--url", SERVER.jdbcUrl(), "--user", "migrate_app");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .contains("permission denied", "run it as the owner of the schema", "to \"migrate_app\"")
                .hasLineCount(1);
    }

    private static Ran migrate(String... more) {
        List<String> arguments = new ArrayList<>(List.of("migrate", "--schema", SCHEMA));
        arguments.addAll(List.of(more));
        Map<String, String> environment = Map.of("WINDLASS_URL", SERVER.jdbcUrl(), "WINDLASS_USER", SERVER.user());
        return Ran.windlass(environment, arguments.toArray(String[]::new));
    }

    private static String table(String name) throws SQLException {
        return Sql.value(DATABASE, "select to_regclass('" + QUOTED + "." + name + "')");
    }

    private static String mayInsert() throws SQLException {
        return Sql.value(
                DATABASE, "select has_table_privilege('migrate_app', '" + QUOTED + ".outbox', 'select, insert')");
    }
}
