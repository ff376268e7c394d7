package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** On a database that is given; see {@link ServeProcessTest} for its own. */
final class ServeCommandTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    private final StringWriter out = new StringWriter();

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(SERVER.dataSource(), "drop schema if exists serve_test cascade");
    }

    @Test
    void givenDatabaseGetsTheSchemaAndANodeUntilTheEnd() throws Exception {
        AtomicInteger exitCode = new AtomicInteger(-1);
        CommandLine command =
                Main.commandLine(Map.of("WINDLASS_USER", "postgres")).setOut(new PrintWriter(out));
        Thread thread = new Thread(() -> exitCode.set(
                command.execute("serve", "--schema", "serve_test", "--url", SERVER.jdbcUrl() + "?password=hidden")));
        thread.start();
        await().until(() -> out.toString().contains("Stop it with Ctrl-C"));
        assertThat(out.toString())
                .contains("creating or upgrading table \"serve_test\".\"outbox\"")
                .contains("Windlass")
                .contains("is ready")
                .contains(SERVER.jdbcUrl() + "?password=****")
                .doesNotContain("hidden");
        assertThat(Sql.value(SERVER.dataSource(), "select to_regclass('serve_test.outbox')"))
                .isEqualTo("serve_test.outbox");
        thread.interrupt();
        thread.join();
        assertThat(exitCode).hasValue(0);
        assertThat(out.toString()).endsWith("stopped" + System.lineSeparator());
    }
}
