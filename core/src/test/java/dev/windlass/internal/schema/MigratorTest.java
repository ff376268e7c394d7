package dev.windlass.internal.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Shows;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schema.SchemaException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** How the schema comes into being. */
final class MigratorTest {
    @RegisterExtension
    final SchemaFixture database = new SchemaFixture();

    @Test
    @Shows({"OBX-108", "OBX-111", "OBX-112"})
    void ensureSchemaCreatesTheTablesAndRoutinesThatAreNotThere() throws SQLException {
        try (Windlass windlass = database.windlass().ensureSchema().start()) {
            windlass.outbox().enqueue(OutboxEntry.of("topic", ""));
        }

        assertThat(database.list("select tablename from pg_tables where schemaname = '%s'"))
                .containsExactlyInAnyOrder(
                        "inbox",
                        "inbox_failure",
                        "inbox_seen",
                        "lease",
                        "lease_semaphore",
                        "outbox",
                        "outbox_dedup",
                        "outbox_failure",
                        "outbox_job",
                        "outbox_job_run",
                        "outbox_job_run_failure",
                        "outbox_job_set",
                        "outbox_key",
                        "outbox_key_freed",
                        "outbox_timer",
                        "outbox_timer_failure",
                        "windlass_action",
                        "windlass_join",
                        "windlass_join_gone",
                        "windlass_join_member",
                        "windlass_start",
                        "windlass_topic",
                        "windlass_version",
                        "windlass_watch",
                        "work",
                        "work_failure");
        assertThat(database.list("select proname from pg_proc where pronamespace = to_regnamespace('%s')"))
                .contains(
                        "outbox_enqueue", "outbox_claim", "outbox_ack", "outbox_abandon", "outbox_fail", "outbox_reap");
    }

    @Test
    void everyRoutineThatTheSqlMakesIsLookedFor() throws SQLException {
        SchemaMigrator migrator = (SchemaMigrator) database.windlass()
                .outbox(OutboxOptions.defaults().withTableName("my \"box\""))
                .migrator();
        migrator.migrate();

        assertThat(migrator.routines())
                .containsExactlyInAnyOrderElementsOf(database.list(
                        "select distinct proname from pg_proc where pronamespace = to_regnamespace('%s')"));
    }

    @Test
    void optionsThatAreGivenLaterDoNotTakeEnsureSchemaBack() throws SQLException {
        database.windlass()
                .ensureSchema()
                .options(WindlassOptions.defaults().withSchemaName(database.schema))
                .start()
                .close();

        assertThat(database.exists()).isTrue();
    }

    @Test
    @Shows("OBX-109")
    void withoutEnsureSchemaNothingIsCreatedAndTheProgramSaysWhatIsMissing() throws SQLException {
        assertThatThrownBy(() -> database.windlass().start())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("expected Windlass's tables in schema \"" + database.schema + "\", found none")
                .hasMessageContaining("ensureSchema");
        assertThat(database.exists()).isFalse();
    }

    @Test
    void aServerThatIsTooOldIsRefusedInOneSentenceAndLeftAsItIs() throws SQLException {
        WindlassBuilder windlass = Windlass.on(OlderServer.of(database.owner))
                .options(WindlassOptions.defaults().withSchemaName(database.schema));

        assertRefused(windlass::start);
        assertRefused(windlass.migrator()::check);
        assertRefused(windlass.migrator()::pendingSql);
        assertRefused(windlass.migrator()::migrate);
        assertRefused(windlass.ensureSchema()::start);
        assertThat(database.exists()).isFalse();

        database.migrator().migrate();
        assertRefused(windlass::start);
    }

    private static void assertRefused(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(SchemaException.class)
                .hasMessage("[windlass] expected PostgreSQL 15 or newer, found PostgreSQL 14.23;"
                        + " upgrade the server, or use another one");
    }

    @Test
    void aTableThatIsMissingInASchemaThatIsThereIsNamed() {
        database.migrator().migrate();

        assertThatThrownBy(() -> database.migrator(Component.outbox("second")).check())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("expected the table \"" + database.schema + "\".\"second\", found none");
    }

    @Test
    @Shows("OBX-110")
    void migratingAgainChangesNothing() throws SQLException {
        database.migrator().migrate();
        List<String> content = database.content();
        List<String> versions = database.versions();

        database.migrator().migrate();
        database.windlass().ensureSchema().start().close();

        assertThat(database.content()).isEqualTo(content);
        assertThat(database.versions()).isEqualTo(versions);
        assertThat(database.migrator().pendingSql()).isEmpty();
    }

    @Test
    @Shows("OBX-110")
    void ofManyMigratorsAtOnceOneWorksAndAllSucceed() throws Exception {
        database.migrateManyTimesAtOnce(database.migrator());

        assertThat(database.installed()).contains("outbox outbox").doesNotHaveDuplicates();
        database.migrator().check();
    }

    @Test
    void migratorsDoNotDependOnTheDatabasesDefaultIsolation() throws Exception {
        PGSimpleDataSource strict = (PGSimpleDataSource) database.owner;
        strict.setOptions("-c default_transaction_isolation=serializable");
        try {
            database.migrateManyTimesAtOnce(database.migrator());
        } finally {
            strict.setOptions(null);
        }

        assertThat(database.installed()).contains("outbox outbox").doesNotHaveDuplicates();
    }

    @Test
    void theDryRunChangesNothingAndItsTextIsTheMigration() throws SQLException {
        String sql = database.migrator().pendingSql();
        assertThat(database.exists()).isFalse();

        database.execute(sql);
        List<String> byText = database.content();
        database.migrator().check();
        assertThat(database.migrator().pendingSql()).isEmpty();

        database.execute("drop schema %s cascade");
        database.migrator().migrate();
        assertThat(byText).isEqualTo(database.content());
    }

    @Test
    void theFullTextIsTheMigrationOfAnEmptyDatabaseWhateverIsThereNow() throws SQLException {
        String before = database.migrator().fullSql();
        database.execute(before);
        List<String> byText = database.content();
        database.migrator().check();
        assertThat(database.migrator().fullSql()).isEqualTo(before);

        database.execute("drop schema %s cascade");
        database.migrator().migrate();
        assertThat(byText).isEqualTo(database.content());
    }

    @Test
    void aMigrationThatFailsLeavesNothing() throws SQLException {
        database.execute("create schema %s");
        database.execute("create table %s.outbox_key (mine integer)");

        assertThatThrownBy(() -> database.migrator().migrate())
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("could not migrate schema " + database.schema);

        assertThat(database.content()).containsExactly("column outbox_key mine integer f");
    }

    @Test
    void severalTablesLiveInOneSchema() throws SQLException {
        OutboxOptions second = OutboxOptions.defaults().withTableName("orders_outbox");
        try (Windlass one = database.windlass().ensureSchema().start();
                Windlass other =
                        database.windlass().outbox(second).ensureSchema().start()) {
            one.outbox().enqueue(OutboxEntry.of("topic", "one"));
            other.outbox().enqueue(OutboxEntry.of("topic", "other"));

            assertThat(one.outbox().claim(OwnerToken.fresh(), Duration.ofMinutes(1), 10))
                    .extracting(message -> message.payload())
                    .containsExactly("one");
            assertThat(other.outbox().claim(OwnerToken.fresh(), Duration.ofMinutes(1), 10))
                    .extracting(message -> message.payload())
                    .containsExactly("other");
        }
        assertThat(database.installed())
                .contains("outbox outbox", "orders_outbox outbox")
                .doesNotHaveDuplicates();
    }

    @Test
    void checkingAnUpToDateSchemaIsSilent() {
        database.migrator().migrate();
        assertThatCode(() -> database.migrator().check()).doesNotThrowAnyException();
    }
}
