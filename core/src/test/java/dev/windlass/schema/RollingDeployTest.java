package dev.windlass.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schema.Component.Step;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Programs of different versions on one database. */
final class RollingDeployTest {
    private static final Component NOW = Component.outbox("outbox");

    /** A program whose routines have changed since. */
    private static final Component NEXT = new Component(
            "outbox",
            "outbox",
            NOW.version() + 1,
            1,
            List.of(
                    new Step(1, "outbox_table.sql"),
                    new Step(2, "outbox_table_2.sql"),
                    new Step(NOW.version() + 1, "outbox_routines.sql")));

    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    @BeforeEach
    void migrate() {
        database.migrator().migrate();
    }

    @Test
    void anOlderProgramRunsOnANewerDatabaseAndBringsNothingOldBack() throws SQLException {
        database.execute("insert into %s.windlass_version (table_name, component, version, min_compatible)"
                + " values ('outbox', 'outbox', 99, 1)");
        database.execute("create or replace function %s.outbox_ready_topics() returns setof text"
                + " language sql stable as 'select ''of version 99'''");
        List<String> content = database.content();

        assertThat(database.migrator().pendingSql()).isEmpty();
        try (Windlass windlass = database.windlass().ensureSchema().start()) {
            windlass.outbox().enqueue(OutboxEntry.of("topic", ""));
        }

        assertThat(database.content()).isEqualTo(content);
        assertThat(database.versions()).hasSize(2);
    }

    @Test
    void aProgramThatIsTooOldForTheDatabaseRefusesToRun() throws SQLException {
        database.execute("insert into %s.windlass_version (table_name, component, version, min_compatible)"
                + " values ('outbox', 'outbox', 99, 98)");
        List<String> content = database.content();

        assertThatThrownBy(() -> database.windlass().ensureSchema().start())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("version 99 of table")
                .hasMessageContaining(
                        "needs a program of schema version 98 or newer, this one has " + (NEXT.version() - 1))
                .hasMessageContaining("upgrade the program");
        assertThat(database.content()).isEqualTo(content);
    }

    @Test
    void aNewerProgramRefusesAnOlderDatabaseUntilItIsMigrated() throws SQLException {
        assertThatThrownBy(() -> database.migrator(NEXT).check())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("expected version " + NEXT.version() + " of table")
                .hasMessageContaining("found " + (NEXT.version() - 1))
                .hasMessageContaining("windlass migrate");

        database.migrator(NEXT).migrate();
        database.migrator(NEXT).check();
    }

    @Test
    void anUpgradeRunsOnlyTheFilesThatAreNewer() throws SQLException {
        try (Windlass windlass = database.windlass().start()) {
            windlass.outbox().enqueue(OutboxEntry.of("topic", "kept"));
        }
        database.execute("drop function %s.outbox_ready_topics()");
        assertThat(database.migrator(NEXT).pendingSql())
                .contains("outbox_ready_topics")
                .doesNotContain("create table");

        database.migrator(NEXT).migrate();

        assertThat(database.list("select payload from %s.outbox")).containsExactly("kept");
        assertThat(database.list("select proname from pg_proc where pronamespace = to_regnamespace('%s')"))
                .contains("outbox_ready_topics");
        assertThat(database.versions()).hasSize(2);
    }

    @Test
    void theOlderProgramGoesOnAfterTheUpgrade() throws SQLException {
        database.migrator(NEXT).migrate();

        database.migrator().migrate();
        database.migrator().check();
        assertThat(database.versions()).hasSize(2);
    }
}
