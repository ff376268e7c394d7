package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One line of the status: numbers as they are shown, with a {@code +} where counting stopped. */
record TopicStatus(
        String topic, String ready, String due, String inProgress, String done, String failed, String oldestDue) {

    static final int MAX_READY = 10_000;
    static final int MAX_OTHERS = 100_000;
    private static final int MAX_SECONDS = 30;

    /**
     * The cost is bounded whatever the table holds: ready messages are counted along their index up to a limit for each
     * topic, messages of every other state along theirs up to one limit, the newest ended ones first. So no topic's backlog
     * hides another topic, and millions of kept messages are not read.
     */
    private static final String SQL = """
            with clock as materialized (
                select clock_timestamp() as now),
            ready as (
                select t.topic, n.ready, n.due, n.oldest
                  from clock
                 cross join %2$s() as t (topic)
                 cross join lateral (
                       select count(*) as ready,
                              count(*) filter (where r.next_attempt_at <= clock.now) as due,
                              min(r.next_attempt_at) filter (where r.next_attempt_at <= clock.now) as oldest
                         from (select m.next_attempt_at
                                 from %1$s m
                                where m.status = 0 and m.topic = t.topic
                                order by m.next_attempt_at, m.id
                                limit %3$d) r) n),
            others as (
                (select m.topic, m.status from %1$s m where m.status = 1 order by m.locked_until limit %4$d)
                union all
                (select m.topic, m.status from %1$s m where m.status = 2 order by m.ended_at desc limit %4$d)
                union all
                (select m.topic, m.status from %1$s m where m.status = 3 order by m.ended_at desc, m.id desc
                  limit %4$d)),
            counted as (
                select o.topic,
                       count(*) filter (where o.status = 1) as in_progress,
                       count(*) filter (where o.status = 2) as done,
                       count(*) filter (where o.status = 3) as failed
                  from others o
                 group by o.topic)
            select coalesce(ready.topic, counted.topic) as topic,
                   coalesce(ready.ready, 0) as ready,
                   coalesce(ready.due, 0) as due,
                   coalesce(counted.in_progress, 0) as in_progress,
                   coalesce(counted.done, 0) as done,
                   coalesce(counted.failed, 0) as failed,
                   sum(counted.in_progress) over () as all_in_progress,
                   sum(counted.done) over () as all_done,
                   sum(counted.failed) over () as all_failed,
                   extract(epoch from clock.now - ready.oldest)::bigint as oldest_seconds
              from ready
              full join counted on counted.topic = ready.topic
             cross join clock
             order by 1""";

    static List<TopicStatus> read(Connection connection, SchemaOptions schema) throws SQLException {
        String sql = SQL.formatted(schema.qualified(""), schema.qualified("_ready_topics"), MAX_READY, MAX_OTHERS);
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
        boolean manyReady = row.getLong("ready") >= MAX_READY;
        return new TopicStatus(
                row.getString("topic"),
                number(row.getLong("ready"), manyReady),
                number(row.getLong("due"), manyReady && row.getLong("due") >= MAX_READY),
                number(row.getLong("in_progress"), row.getLong("all_in_progress") >= MAX_OTHERS),
                number(row.getLong("done"), row.getLong("all_done") >= MAX_OTHERS),
                number(row.getLong("failed"), row.getLong("all_failed") >= MAX_OTHERS),
                age(row));
    }

    private static String number(long count, boolean cut) {
        return cut ? count + "+" : Long.toString(count);
    }

    private static String age(ResultSet row) throws SQLException {
        Long seconds = row.getObject("oldest_seconds", Long.class);
        if (seconds == null) {
            return "-";
        }
        Duration age = Duration.ofSeconds(Math.max(0, seconds));
        if (age.toDays() > 0) {
            return age.toDays() + " d " + age.toHoursPart() + " h";
        }
        if (age.toHours() > 0) {
            return age.toHours() + " h " + age.toMinutesPart() + " min";
        }
        return age.toMinutes() > 0 ? age.toMinutes() + " min " + age.toSecondsPart() + " s" : seconds + " s";
    }

    boolean isCut() {
        return List.of(ready, due, inProgress, done, failed).stream().anyMatch(number -> number.endsWith("+"));
    }
}
