package dev.windlass.cli;

import dev.windlass.operator.TopicLimit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
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
        @Nullable Duration oldestDue) {

    static final int MAX_READY = 10_000;
    static final int MAX_OTHERS = 100_000;
    private static final int MAX_SECONDS = 30;

    /**
     * The cost is bounded whatever the table holds: ready messages are counted along their index up to a limit for each
     * topic, messages of every other state along theirs up to one limit, the newest ended ones first. So no topic's backlog
     * hides another topic, and millions of kept messages are not read. All messages of the outbox have one priority.
     */
    private static final String OUTBOX = """
            with clock as materialized (
                select clock_timestamp() as now),
            ready as (
                select t.topic, n.ready, n.due, n.oldest, n.ready >= %3$d as many_ready, n.due >= %3$d as many_due
                  from clock
                 cross join %2$s() as t (topic)
                 cross join lateral (
                       select count(*) as ready,
                              count(*) filter (where r.next_attempt_at <= clock.now) as due,
                              min(r.next_attempt_at) filter (where r.next_attempt_at <= clock.now) as oldest
                         from (select m.next_attempt_at
                                 from %1$s m
                                where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = 4
                                order by m.next_attempt_at, m.id
                                limit %3$d) r) n),
            others as (
                (select m.topic, m.status, false as blocks from %1$s m where m.status = 1 order by m.locked_until
                  limit %4$d)
                union all
                (select m.topic, m.status, false from %1$s m where m.status = 2 order by m.ended_at desc limit %4$d)
                union all
                (select m.topic, m.status, m.blocks_key from %1$s m where m.status = 3 order by m.ended_at desc, m.id desc
                  limit %4$d)
                union all
                (select m.topic, m.status, false from %1$s m where m.status = 4
                  order by m.ordering_key, m.ordering_sequence limit %4$d)),
            counted as (
                select o.topic,
                       count(*) filter (where o.status = 1) as in_progress,
                       count(*) filter (where o.status = 2) as done,
                       count(*) filter (where o.status = 3) as failed,
                       count(*) filter (where o.blocks) as blocked_keys,
                       count(*) filter (where o.status = 4) as waiting
                  from others o
                 group by o.topic)
            select coalesce(ready.topic, counted.topic, decided.topic) as topic,
                   decided.paused_at is not null as is_paused,
                   decided.max_running, decided.max_per_key, decided.rate, decided.rate_micros,
                   coalesce(ready.ready, 0) as ready,
                   coalesce(ready.due, 0) as due,
                   coalesce(ready.many_ready, false) as many_ready,
                   coalesce(ready.many_due, false) as many_due,
                   coalesce(counted.in_progress, 0) as in_progress,
                   coalesce(counted.done, 0) as done,
                   coalesce(counted.failed, 0) as failed,
                   coalesce(counted.blocked_keys, 0) as blocked_keys,
                   coalesce(counted.waiting, 0) as waiting,
                   sum(counted.in_progress) over () as all_in_progress,
                   sum(counted.done) over () as all_done,
                   sum(counted.failed) over () as all_failed,
                   sum(counted.waiting) over () as all_waiting,
                   extract(epoch from clock.now - ready.oldest)::bigint as oldest_seconds
              from ready
              full join counted on counted.topic = ready.topic
              full join %5$s() decided on decided.topic = coalesce(ready.topic, counted.topic)
             cross join clock
             order by 1""";

    /**
     * The same for the work queue: ready items are counted for each priority, and those with keys apart, as their indexes have them. None
     * waits behind another.
     */
    private static final String WORK = """
            with clock as materialized (
                select clock_timestamp() as now),
            ready as (
                select t.topic, sum(n.ready) as ready, sum(n.due) as due, min(n.oldest) as oldest,
                       bool_or(n.many_ready) as many_ready, bool_or(n.many_due) as many_due
                  from clock
                 cross join (select distinct %2$s()) as t (topic)
                 cross join lateral (
                       select count(*) as ready,
                              count(*) filter (where r.next_attempt_at <= clock.now) as due,
                              min(r.next_attempt_at) filter (where r.next_attempt_at <= clock.now) as oldest,
                              count(*) >= %3$d as many_ready,
                              count(*) filter (where r.next_attempt_at <= clock.now) >= %3$d as many_due
                         from generate_series(0, 9) as level (priority)
                        cross join lateral (
                              select m.next_attempt_at
                                from %1$s m
                               where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = level.priority
                               order by m.next_attempt_at, m.id
                               limit %3$d) r
                        group by level.priority
                       union all
                       select count(*),
                              count(*) filter (where r.next_attempt_at <= clock.now),
                              min(r.next_attempt_at) filter (where r.next_attempt_at <= clock.now),
                              count(*) >= %3$d,
                              count(*) >= %3$d
                         from (select m.next_attempt_at
                                 from %1$s m
                                where m.status = 0 and m.keyed and m.topic = t.topic
                                limit %3$d) r) n
                 group by t.topic),
            others as (
                (select m.topic, m.status from %1$s m where m.status = 1 order by m.locked_until limit %4$d)
                union all
                (select m.topic, m.status from %1$s m where m.status = 2 and m.ended_at is not null
                  order by m.ended_at desc limit %4$d)
                union all
                (select m.topic, m.status from %1$s m where m.status = 3 and m.ended_at is not null
                  order by m.ended_at desc limit %4$d)),
            counted as (
                select o.topic,
                       count(*) filter (where o.status = 1) as in_progress,
                       count(*) filter (where o.status = 2) as done,
                       count(*) filter (where o.status = 3) as failed
                  from others o
                 group by o.topic)
            select coalesce(ready.topic, counted.topic, decided.topic) as topic,
                   decided.paused_at is not null as is_paused,
                   decided.max_running, decided.max_per_key, decided.rate, decided.rate_micros,
                   coalesce(ready.ready, 0) as ready,
                   coalesce(ready.due, 0) as due,
                   coalesce(ready.many_ready, false) as many_ready,
                   coalesce(ready.many_due, false) as many_due,
                   coalesce(counted.in_progress, 0) as in_progress,
                   coalesce(counted.done, 0) as done,
                   coalesce(counted.failed, 0) as failed,
                   0 as blocked_keys,
                   0 as waiting,
                   sum(counted.in_progress) over () as all_in_progress,
                   sum(counted.done) over () as all_done,
                   sum(counted.failed) over () as all_failed,
                   0 as all_waiting,
                   extract(epoch from clock.now - ready.oldest)::bigint as oldest_seconds
              from ready
              full join counted on counted.topic = ready.topic
              full join %5$s() decided on decided.topic = coalesce(ready.topic, counted.topic)
             cross join clock
             order by 1""";

    static List<TopicStatus> ofOutbox(Connection connection, SchemaOptions schema) throws SQLException {
        return read(connection, OUTBOX, schema, schema.table);
    }

    /** One for each queue. */
    static List<TopicStatus> ofWork(Connection connection, SchemaOptions schema) throws SQLException {
        return read(connection, WORK, schema, schema.workTable);
    }

    private static List<TopicStatus> read(Connection connection, String text, SchemaOptions schema, String table)
            throws SQLException {
        String sql = text.formatted(
                schema.qualifiedName(table),
                schema.qualifiedName(table + "_ready_topics"),
                MAX_READY,
                MAX_OTHERS,
                schema.qualifiedName(table + "_decided_topics"));
        List<TopicStatus> topics = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(MAX_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    topics.add(of(row));
                }
            }
        }
        return topics;
    }

    private static TopicStatus of(ResultSet row) throws SQLException {
        boolean manyFailed = row.getLong("all_failed") >= MAX_OTHERS;
        return new TopicStatus(
                row.getString("topic"),
                row.getBoolean("is_paused"),
                limit(row),
                new Count(row.getLong("ready"), row.getBoolean("many_ready")),
                new Count(row.getLong("due"), row.getBoolean("many_due")),
                new Count(row.getLong("waiting"), row.getLong("all_waiting") >= MAX_OTHERS),
                new Count(row.getLong("in_progress"), row.getLong("all_in_progress") >= MAX_OTHERS),
                new Count(row.getLong("done"), row.getLong("all_done") >= MAX_OTHERS),
                new Count(row.getLong("failed"), manyFailed),
                new Count(row.getLong("blocked_keys"), manyFailed),
                age(row));
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
