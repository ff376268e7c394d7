package dev.windlass.cli;

import dev.windlass.operator.TopicLimit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the status says of a topic, or of a queue of the work queue. */
record TopicStatus(
        String topic,
        boolean isPaused,
        TopicLimit limit,
        Count ready,
        Count due,
        Count waiting,
        Count inProgress,
        Count done,
        Count failed,
        Count blockedKeys,
        @Nullable Duration oldestDue,
        boolean areMoreTopics) {

    /** Where counting stops. */
    static final int MOST = 10_000;

    private static final int MAX_SECONDS = 30;

    /** The same as the totals, with what operators have decided. */
    private static final String TOTALS = """
            select coalesce(t.topic, decided.topic) as topic,
                   decided.paused_at is not null as is_paused,
                   decided.max_running, decided.max_per_key, decided.rate, decided.rate_micros,
                   coalesce(t.ready, 0) as ready,
                   coalesce(t.due, 0) as due,
                   coalesce(t.waiting, 0) as waiting,
                   coalesce(t.in_progress, 0) as in_progress,
                   coalesce(t.done, 0) as done,
                   coalesce(t.failed, 0) as failed,
                   sum(t.waiting) over () as all_waiting,
                   sum(t.in_progress) over () as all_in_progress,
                   sum(t.done) over () as all_done,
                   t.oldest_due_ms / 1000 as oldest_seconds,
                   coalesce(bool_or(t.more_topics) over (), false) as more_topics
              from %s(%d) t
              full join %s() decided on decided.topic = t.topic
             order by 1""";

    /** Failed messages that hold up the others of their ordering key, among those that failed last. */
    private static final String BLOCKED = """
            select f.topic, count(*) as blocked_keys
              from (select m.topic, m.blocks_key
                      from %s m
                     where m.status = 3 and m.ended_at is not null
                     order by m.ended_at desc
                     limit %d) f
             where f.blocks_key
             group by f.topic""";

    static List<TopicStatus> ofOutbox(Connection connection, SchemaOptions schema) throws SQLException {
        Map<String, Long> blocked = new HashMap<>();
        query(connection, BLOCKED.formatted(schema.qualifiedName(schema.table), MOST), row -> {
            blocked.put(row.getString("topic"), row.getLong("blocked_keys"));
        });
        return read(connection, schema, schema.table, blocked);
    }

    /** One for each queue. */
    static List<TopicStatus> ofWork(Connection connection, SchemaOptions schema) throws SQLException {
        return read(connection, schema, schema.workTable, Map.of());
    }

    private static List<TopicStatus> read(
            Connection connection, SchemaOptions schema, String table, Map<String, Long> blocked) throws SQLException {
        String sql = TOTALS.formatted(
                schema.qualifiedName(table + "_totals"), MOST, schema.qualifiedName(table + "_decided_topics"));
        List<TopicStatus> topics = new ArrayList<>();
        query(connection, sql, row -> topics.add(of(row, blocked)));
        return topics;
    }

    private interface EachRow {
        void read(ResultSet row) throws SQLException;
    }

    private static void query(Connection connection, String sql, EachRow each) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(MAX_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    each.read(row);
                }
            }
        }
    }

    private static TopicStatus of(ResultSet row, Map<String, Long> blocked) throws SQLException {
        String topic = row.getString("topic");
        Count failed = Count.upTo(MOST, row.getLong("failed"));
        return new TopicStatus(
                topic,
                row.getBoolean("is_paused"),
                limit(row),
                Count.upTo(MOST, row.getLong("ready")),
                Count.upTo(MOST, row.getLong("due")),
                new Count(row.getLong("waiting"), row.getLong("all_waiting") >= MOST),
                new Count(row.getLong("in_progress"), row.getLong("all_in_progress") >= MOST),
                new Count(row.getLong("done"), row.getLong("all_done") >= MOST),
                failed,
                new Count(blocked.getOrDefault(topic, 0L), failed.isCut()),
                age(row),
                row.getBoolean("more_topics"));
    }

    private static TopicLimit limit(ResultSet row) throws SQLException {
        Long micros = row.getObject("rate_micros", Long.class);
        return new TopicLimit(
                row.getObject("max_running", Integer.class),
                row.getObject("max_per_key", Integer.class),
                row.getObject("rate", Integer.class),
                micros == null ? null : Duration.of(micros, ChronoUnit.MICROS));
    }

    private static @Nullable Duration age(ResultSet row) throws SQLException {
        Long seconds = row.getObject("oldest_seconds", Long.class);
        return seconds == null ? null : Duration.ofSeconds(Math.max(0, seconds));
    }

    boolean isLimited() {
        return !limit.equals(TopicLimit.none());
    }

    boolean isCut() {
        return counts().values().stream().anyMatch(Count::isCut);
    }

    /** By the names they have for other programs. */
    Map<String, Count> counts() {
        Map<String, Count> counts = new LinkedHashMap<>();
        counts.put("ready", ready);
        counts.put("due", due);
        counts.put("waiting", waiting);
        counts.put("inProgress", inProgress);
        counts.put("done", done);
        counts.put("failed", failed);
        counts.put("blockedKeys", blockedKeys);
        return counts;
    }
}
