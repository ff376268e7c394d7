package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a database that is given; see {@link ServeProcessTest} for its own. */
final class ServeCommandTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(SERVER.dataSource(), "drop schema if exists serve_test cascade");
    }

    @Test
    void givenDatabaseGetsTheSchemaAndANodeUntilTheEnd() throws Exception {
        Serving serving = Serving.ready(SERVER.jdbcUrl() + "?password=hidden", "serve_test");
        try (serving) {
            assertThat(serving.out())
                    .contains("creating or upgrading table \"serve_test\".\"outbox\"")
                    .contains("Windlass")
                    .contains("is ready")
                    .contains(SERVER.jdbcUrl() + "?password=****")
                    .doesNotContain("hidden");
            assertThat(Sql.value(SERVER.dataSource(), "select to_regclass('serve_test.outbox')"))
                    .isEqualTo("serve_test.outbox");
        }
        assertThat(serving.out()).endsWith("stopped" + System.lineSeparator());
    }

    /** One handler waits for this lock, or others would wait for connections, and it would not be ready for that. */
    @Test
    void untilTheLastHandlerHasEndedItAnswersOverHttpThatItIsNotReady() throws Exception {
        Serving serving =
                Serving.ready(SERVER.jdbcUrl(), "serve_test", "--demo", "--http-port", "0", "--connections", "7");
        try (serving;
                Connection connection = SERVER.dataSource().getConnection();
                Statement lock = connection.createStatement()) {
            lock.execute("select pg_advisory_lock(4711)");
            letAHandlerWait();
            assertThat(serving.get("/health/ready").statusCode()).isEqualTo(200);
            serving.askToStop();
            eventually().until(() -> serving.get("/health/ready").statusCode() == 503);
            assertThat(serving.get("/health/ready").body()).contains("the node has not started yet");
            assertThat(serving.get("/health/live").statusCode()).isEqualTo(200);
            assertThat(serving.get("/metrics").body())
                    .contains("windlass_handled_seconds_count{", "hikaricp_connections_max{pool=\"windlass\"} 7.0");
            assertThat(serving.out())
                    .contains("stopping, running handlers may finish")
                    .doesNotContain("stopped");
        }
        assertThat(serving.out()).endsWith("stopped" + System.lineSeparator());
        assertThat(Sql.value(SERVER.dataSource(), "select count(*) from serve_test.outbox where status = 1"))
                .isEqualTo("0");
    }

    private static void letAHandlerWait() throws SQLException {
        eventually()
                .until(() -> Sql.value(SERVER.dataSource(), "select to_regclass('serve_test.demo_orders')")
                        .equals("serve_test.demo_orders"));
        Sql.execute(SERVER.dataSource(), """
                create function serve_test.wait() returns trigger language plpgsql as
                'begin if pg_try_advisory_xact_lock(4712) then perform pg_advisory_xact_lock_shared(4711); end if; return new; end';
                create trigger wait before update on serve_test.demo_orders
                   for each row execute function serve_test.wait()""");
        eventually()
                .until(() -> Sql.value(
                                SERVER.dataSource(),
                                "select count(*) from pg_stat_activity where wait_event = 'advisory'")
                        .equals("1"));
    }
}
