package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The story in SQL answers what it says it does, for a user with the rights of the grant script and no more. */
final class SqlExampleTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path STORY = ROOT.resolve("examples/sql/worked-example.sql");
    private static final String USER = "windlass_app";

    @BeforeEach
    void emptyDatabase() throws SQLException {
        Run.execute("drop schema if exists windlass cascade; drop schema if exists shop cascade");
        Run.execute("""
                do $$ begin
                    if not exists (select from pg_roles where rolname = '%1$s') then
                        create role %1$s login;
                    end if;
                end $$; grant create on database postgres to %1$s""".formatted(USER));
    }

    @Test
    void everyAnswerThatTheStoryPromisesIsGiven() throws Exception {
        Run.execute(Files.readString(ROOT.resolve("sql/postgresql/windlass-1.sql")));
        Run.execute(Files.readString(ROOT.resolve("sql/postgresql/grants.sql")));
        SqlScript story = SqlScript.read(STORY);
        assertThat(story.answers()).hasSizeGreaterThan(40);

        try (Connection connection = EmbeddedPostgres.shared().dataSource().getConnection()) {
            connection.createStatement().execute("set role " + USER);
            for (SqlScript.Step step : story.steps()) {
                List<String> rows = SqlScript.run(connection, step);
                if (!step.answers().isEmpty()) {
                    assertThat(rows).as(step.sql()).isEqualTo(step.answers());
                }
            }
        }
    }

    @Test
    void psqlInstallsTheSchemaAndTellsTheSameStory() throws Exception {
        Tool.needed("psql");
        psql(EmbeddedPostgres.shared().user(), "--single-transaction", ROOT.resolve("sql/postgresql/windlass-1.sql"));
        psql(EmbeddedPostgres.shared().user(), "--single-transaction", ROOT.resolve("sql/postgresql/grants.sql"));

        assertThat(psql(USER, "--quiet", STORY).lines())
                .containsSubsequence(SqlScript.read(STORY).answers());
    }

    private static String psql(String user, String option, Path file) throws IOException, InterruptedException {
        Tool.Ran ran = Tool.run(
                ROOT,
                user,
                List.of(
                        "psql",
                        "--no-psqlrc",
                        "--no-align",
                        "--tuples-only",
                        "--field-separator= | ",
                        "--set=ON_ERROR_STOP=1",
                        option,
                        "--file=" + file));
        assertThat(ran.exitCode()).as(ran.output()).isZero();
        return ran.output();
    }
}
