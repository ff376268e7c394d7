package dev.windlass.internal.schema;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.WindlassException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A database of this version is brought to the next one. */
final class UpgradeTest {
    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    private SchemaMigrator next;

    @BeforeEach
    void installThisVersion() {
        database.migrator().migrate();
        next = database.migrator(NextVersion.outbox());
    }

    @Test
    void onlyTheFilesThatAreNewerRun() throws SQLException {
        database.execute("select %s.outbox_enqueue('topic', 'kept')");
        database.execute("drop function %s.outbox_ready_topics()");
        assertThat(next.pendingSql()).contains("add column region").doesNotContain("create table");

        next.migrate();

        assertThat(database.list("select payload from %s.outbox where region is null"))
                .containsExactly("kept");
        assertThat(database.list("select proname from pg_proc where pronamespace = to_regnamespace('%s')"))
                .contains("outbox_claim_1")
                .doesNotContain("outbox_ready_topics");
        assertThat(database.versions()).hasSize(2);
    }

    @Test
    void theTextOfAnUpgradeIsWhatTheMigratorRuns() {
        assertThat(next.upgradeSql(1)).isEqualTo(next.pendingSql());
        assertThat(next.upgradeSql(NextVersion.NUMBER)).isEmpty();
    }

    @Test
    void theUpgradedSchemaIsThatOfAnEmptyDatabase() throws SQLException {
        next.migrate();
        List<String> upgraded = database.content();
        database.execute("drop schema %s cascade");

        next.migrate();
        database.migrator().migrate(); // the inbox and the leases

        assertThat(upgraded).isEqualTo(database.content());
    }

    @Test
    void anUpgradeThatFailsLeavesTheVersionBefore() throws SQLException {
        // The second file cannot tell the two apart, after the first one has added a column.
        database.execute("create function %s.outbox_claim(integer) returns integer language sql as 'select 1'");
        List<String> content = database.content();
        List<String> versions = database.versions();

        assertThatThrownBy(() -> next.migrate())
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("could not migrate schema " + database.schema)
                .hasMessageContaining("SQLSTATE 42725");

        assertThat(database.content()).isEqualTo(content);
        assertThat(database.versions()).isEqualTo(versions);
        database.migrator().check();
    }

    @Test
    void upgradingAgainChangesNothing() throws SQLException {
        next.migrate();
        List<String> content = database.content();
        List<String> versions = database.versions();

        next.migrate();

        assertThat(database.content()).isEqualTo(content);
        assertThat(database.versions()).isEqualTo(versions);
        assertThat(next.pendingSql()).isEmpty();
    }

    @Test
    void ofManyUpgradesAtOnceOneWorksAndAllSucceed() throws Exception {
        database.migrateManyTimesAtOnce(next);

        assertThat(database.versions()).hasSize(2);
        next.check();
    }

    @Test
    void aMigrationThatCannotGetTheTableLetsOthersPass() throws Exception {
        try (Connection program = database.program().getConnection();
                Statement statement = program.createStatement()) {
            program.setAutoCommit(false);
            statement.execute("select " + database.schema + ".outbox_enqueue('topic', 'open')");
            CompletableFuture<Void> migration = CompletableFuture.runAsync(next::migrate);
            String waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%%"
                    + database.schema + "%%outbox%%'";
            eventually().until(() -> database.list(waiting).equals(List.of("1")) || migration.isDone());
            assertThat(migration).isNotDone();

            database.execute("set statement_timeout = '30s'; select %s.outbox_enqueue('topic', 'written meanwhile')");
            program.commit();
            migration.join();
        }

        assertThat(database.list("select count(*) from %s.outbox")).containsExactly("2");
        assertThat(database.versions()).hasSize(2);
    }
}
