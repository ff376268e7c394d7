package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.InboxEntry;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a node without handlers deletes, and what it leaves. In each queue there are rows that ended so many days ago. */
final class ServeRetentionTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final DataSource DATABASE = SERVER.dataSource();

    @BeforeEach
    void fill() throws SQLException {
        try (Windlass windlass = Windlass.on(DATABASE)
                .options(WindlassOptions.defaults()
                        .withSchemaName("retention_test")
                        .withBackgroundWorkers(false))
                .ensureSchema()
                .start()) {
            windlass.inbox().enqueue(InboxEntry.of("shop", "too late", "a.topic", "x"));
        }
        ended("outbox", "", "", "6, 10, 400");
        ended("work", ", type", ", 'a type'", "6, 10, 400");
        ended(
                "outbox_job_run",
                ", source, tick_at, triggered",
                ", 'job ' || d.days, now() - make_interval(days => d.days), false",
                "80, 100, 400");
        Sql.execute(DATABASE, """
                insert into retention_test.inbox_seen (source, message_id, first_seen_at, last_seen_at, state_at, status)
                select 'shop', d.days::text, t.at, t.at, t.at, 2
                  from unnest(array[40, 400]) d (days), lateral (select now() - make_interval(days => d.days)) t (at);
                update retention_test.inbox set expires_at = now() - interval '1 hour'""");
    }

    private static void ended(String table, String columns, String values, String days) throws SQLException {
        Sql.execute(DATABASE, """
                insert into retention_test.%s (id, created_at, next_attempt_at, ended_at, status, topic, payload%s)
                select gen_random_uuid(), now() - interval '500 days', now() - interval '500 days',
                       now() - make_interval(days => d.days), 2, 'a.topic', d.days%s
                  from unnest(array[%s]) d (days)""".formatted(table, columns, values, days));
    }

    @AfterEach
    void clean() throws SQLException {
        Sql.execute(DATABASE, "drop schema retention_test cascade");
    }

    private static void awaitLeft(String table, String column, String days) {
        eventually().alias(table).until(() -> left(table, column).equals(days));
    }

    private static String left(String table, String column) throws SQLException {
        return Sql.value(
                DATABASE,
                "select string_agg(%1$s, ' ' order by %1$s::integer) from retention_test.%2$s where %1$s ~ '^[0-9]+$'"
                        .formatted(column, table));
    }

    @Test
    void whatEndedLongAgoGoesUnlessSomebodySaysOtherwiseAndTheInboxForgetsNothing() throws Exception {
        try (Serving serving = Serving.ready(SERVER.jdbcUrl(), "retention_test", "--no-http")) {
            assertThat(serving.out()).contains("upkeep of the tables");
            awaitLeft("outbox", "payload", "6");
            awaitLeft("work", "payload", "6");
            awaitLeft("outbox_job_run", "payload", "80");
            eventually()
                    .until(() -> Sql.value(DATABASE, "select status from retention_test.inbox")
                            .equals("3"));
        }
        assertThat(left("inbox_seen", "message_id")).isEqualTo("40 400");
    }

    @Test
    void itStaysForAsLongAsIsAskedFor() throws Exception {
        try (Serving serving = Serving.ready(
                SERVER.jdbcUrl(),
                "retention_test",
                "--no-http",
                "--retention",
                "30d",
                "--work-retention",
                "20d",
                "--run-retention",
                "300d",
                "--inbox-retention",
                "200d")) {
            assertThat(serving.out()).contains("is ready");
            awaitLeft("outbox", "payload", "6 10");
            awaitLeft("work", "payload", "6 10");
            awaitLeft("outbox_job_run", "payload", "80 100");
            awaitLeft("inbox_seen", "message_id", "40");
        }
    }
}
