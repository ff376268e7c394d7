package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.schema.Migrator;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the doctor says about a schema that somebody changed. */
final class DoctorSchemaTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final DataSource DATABASE = SERVER.dataSource();

    private final Migrator migrator = Windlass.on(DATABASE)
            .options(WindlassOptions.defaults().withSchemaName("doctor Schema"))
            .migrator();

    @BeforeEach
    void migrate() {
        migrator.migrate();
    }

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(DATABASE, "drop schema if exists \"doctor Schema\" cascade");
    }

    private static Ran doctor() {
        return Ran.windlass(
                "doctor",
                "--url",
                SERVER.jdbcUrl(),
                "--user",
                SERVER.user(),
                "--password",
                SERVER.password(),
                "--schema",
                "doctor Schema");
    }

    private static List<String> aboutTheSchema() {
        return doctor().out()
                .lines()
                .filter(line -> line.matches("\\S+ +(schema|routines|indexes|autovacuum): .*"))
                .toList();
    }

    private static void sql(String sql) throws SQLException {
        Sql.execute(DATABASE, "set search_path = \"doctor Schema\"; " + sql);
    }

    @Test
    void aSchemaWithAnOddNameIsWell() {
        assertThat(aboutTheSchema()).hasSize(4).allMatch(line -> line.startsWith("ok "));
    }

    @Test
    void aSequenceOrTableThatIsMissingIsNamed() throws SQLException {
        sql("drop sequence lease_token; drop table outbox_dedup");
        assertThat(aboutTheSchema()).contains("problem  schema: missing: table outbox_dedup, sequence lease_token");
    }

    @Test
    void whatIsSaidOfAMissingViewMakesItAgainAndWhatWentWithIt() throws SQLException {
        sql("drop view lease_listed cascade");
        Ran ran = doctor();
        assertThat(ran.out())
                .containsPattern("problem +schema: missing: view lease_listed\\R")
                .containsPattern("problem +routines: missing: lease_find, lease_list");
        assertThat(ran.out()).contains("in the order in which they stand there; then all");
        Sql.execute(DATABASE, statements("^create view [^.]+\\.\"lease_listed\".*?;$"));
        Sql.execute(DATABASE, statements("^create or replace function .*?^\\$sql\\$;$"));
        assertThat(aboutTheSchema()).allMatch(line -> line.startsWith("ok "));
    }

    private String statements(String pattern) {
        return Pattern.compile(pattern, Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(migrator.fullSql())
                .results()
                .map(MatchResult::group)
                .collect(Collectors.joining("\n"));
    }

    @Test
    void anIndexOfTheSameNameIsNotTheSame() throws SQLException {
        for (String other : List.of(
                "create index outbox_ready on outbox (created_at)",
                "create index outbox_ready on outbox (topic, priority, next_attempt_at, id) where status = 0",
                "create index outbox_ready on outbox (topic, priority, next_attempt_at, id) where status = 1 and not keyed",
                "create index outbox_ready on outbox (topic, priority desc, next_attempt_at, id) where status = 0 and not keyed")) {
            sql("drop index outbox_ready; " + other);
            assertThat(aboutTheSchema())
                    .as(other)
                    .anyMatch(
                            line -> line.startsWith(
                                    "problem  indexes: index outbox_ready is another one than is needed: CREATE INDEX outbox_ready ON"));
        }
        String out = doctor().out();
        sql("drop index outbox_ready");
        Matcher create = Pattern.compile("create index concurrently \"outbox_ready\"[^;]*;")
                .matcher(out);
        assertThat(create.find()).isTrue();
        Sql.execute(DATABASE, create.group());
        sql("alter index outbox_ready set (fillfactor = 70)");
        assertThat(aboutTheSchema()).allMatch(line -> line.startsWith("ok "));
    }

    @Test
    void settingsThatLetATableBeCleanedUpLateAreWarnings() throws SQLException {
        sql("alter table outbox set (autovacuum_vacuum_scale_factor = 0.9, autovacuum_vacuum_threshold = 100000000)");
        assertThat(doctor().out())
                .containsPattern(
                        "warning +autovacuum: table outbox has autovacuum_vacuum_scale_factor = 0.9: it is cleaned up late")
                .contains("alter table \"doctor Schema\".\"outbox\" set (autovacuum_vacuum_scale_factor = 0.02);")
                .containsPattern("warning +autovacuum: table outbox has autovacuum_vacuum_threshold = 100000000: .*")
                .contains("alter table \"doctor Schema\".\"outbox\" reset (autovacuum_vacuum_threshold);");
        sql("alter table outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)");
        assertThat(aboutTheSchema()).allMatch(line -> line.startsWith("ok "));
    }
}
