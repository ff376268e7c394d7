package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The inbox in one line; each number is counted along an index, up to a limit.
 *
 * @param oldestDue how long the first has been due; zero if none is
 * @param late the same without what is paused
 */
record InboxStatus(
        Count ready, Count due, Count inProgress, Count done, Count failed, Duration oldestDue, Duration late) {
    private static final int MAX_SECONDS = 30;

    private static final String SQL = """
            with clock as materialized (
                select clock_timestamp() as now),
            due as (
                select sum(n.due) as due,
                       min(n.oldest) as oldest,
                       min(n.oldest) filter (where decided.paused_at is null) as late
                  from clock
                 cross join %4$s() as t (topic)
                  left join %5$s() decided on decided.topic = t.topic
                 cross join lateral (
                       select count(*) as due, min(r.next_attempt_at) as oldest
                         from (select m.next_attempt_at
                                 from %1$s m
                                where m.status = 0 and not m.keyed and m.topic = t.topic and m.priority = 4
                                  and m.next_attempt_at <= clock.now
                                order by m.next_attempt_at, m.id
                                limit %3$d) r) n)
            select (select count(*) from (select from %1$s m where m.status = 0 and not m.keyed limit %3$d) c),
                   (select count(*) from (select from %1$s m where m.status = 1 limit %3$d) c)
                 + (select count(*) from (select from %2$s s where s.status = 1 limit %3$d) c),
                   (select count(*) from (select from %1$s m where m.status = 2 and m.ended_at is not null limit %3$d) c)
                 + (select count(*) from (select from %2$s s where s.status = 2 limit %3$d) c),
                   (select count(*) from (select from %1$s m where m.status = 3 limit %3$d) c)
                 + (select count(*) from (select from %2$s s where s.status = 3 limit %3$d) c),
                   coalesce(due.due, 0),
                   coalesce(extract(epoch from clock.now - due.oldest)::bigint, 0),
                   coalesce(extract(epoch from clock.now - due.late)::bigint, 0)
              from clock
             cross join due""";

    static InboxStatus read(Connection connection, SchemaOptions schema) throws SQLException {
        String sql = SQL.formatted(
                schema.qualifiedName(schema.inboxTable),
                schema.qualifiedName(schema.inboxTable + "_seen"),
                TopicStatus.MOST,
                schema.qualifiedName(schema.inboxTable + "_ready_topics"),
                schema.qualifiedName(schema.inboxTable + "_decided_topics"));
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(MAX_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new InboxStatus(
                        count(row, 1),
                        count(row, 5),
                        count(row, 2),
                        count(row, 3),
                        count(row, 4),
                        Duration.ofSeconds(row.getLong(6)),
                        Duration.ofSeconds(row.getLong(7)));
            }
        }
    }

    boolean isEmpty() {
        return ready.number() + inProgress.number() + done.number() + failed.number() == 0;
    }

    private static Count count(ResultSet row, int column) throws SQLException {
        return Count.upTo(TopicStatus.MOST, row.getLong(column));
    }

    @Override
    public String toString() {
        return "inbox: " + ready + " ready, " + inProgress + " in progress, " + done + " done, " + failed + " failed";
    }
}
