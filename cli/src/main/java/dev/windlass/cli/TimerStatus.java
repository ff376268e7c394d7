package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * The timers in one line.
 *
 * @param next how far away the next one is; negative if it is late
 * @param overdue how many nobody has taken within a minute
 */
record TimerStatus(
        Count pending,
        Count claimed,
        Count failed,
        @Nullable Duration next,
        Count overdue) {
    private static final int MAX_SECONDS = 30;

    /** Each number is counted along an index, up to a limit, so that millions of timers cost no more than some thousand. */
    private static final String SQL = """
            with clock as materialized (
                select clock_timestamp() as now)
            select (select count(*)
                      from (select from %1$s t where t.status = 0 order by t.next_attempt_at, t.id limit %2$d) c),
                   (select count(*)
                      from (select from %1$s t where t.status = 1 order by t.locked_until limit %2$d) c),
                   (select count(*)
                      from (select from %1$s t where t.status = 3 and t.ended_at is not null order by t.ended_at limit %2$d) c),
                   (select count(*)
                      from (select
                              from %1$s t
                             where t.status = 0
                               and t.next_attempt_at < (select now from clock) - interval '1 minute'
                             order by t.next_attempt_at, t.id
                             limit %2$d) c),
                   (select t.next_attempt_at
                      from %1$s t
                     where t.status = 0
                     order by t.next_attempt_at, t.id
                     limit 1),
                   (select now from clock)""";

    /**
     * Without statistics, which a table that has just been filled lacks, the planner would sort all of it: 580 ms instead of 5 for
     * 600,000 timers. The settings end with the transaction, also behind a pooler.
     */
    static TimerStatus read(Connection connection, SchemaOptions schema) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement settings = connection.createStatement()) {
            settings.execute("set local enable_sort = off");
            settings.execute("set local enable_bitmapscan = off");
        }
        TimerStatus status = query(connection, SQL.formatted(schema.qualified("_timer"), TopicStatus.MOST));
        connection.rollback();
        connection.setAutoCommit(true);
        return status;
    }

    private static TimerStatus query(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(MAX_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new TimerStatus(count(row, 1), count(row, 2), count(row, 3), next(row), count(row, 4));
            }
        }
    }

    private static Count count(ResultSet row, int column) throws SQLException {
        return Count.upTo(TopicStatus.MOST, row.getLong(column));
    }

    private static @Nullable Duration next(ResultSet row) throws SQLException {
        OffsetDateTime next = row.getObject(5, OffsetDateTime.class);
        return next == null ? null : Duration.between(row.getObject(6, OffsetDateTime.class), next);
    }

    boolean isEmpty() {
        return pending.number() + claimed.number() + failed.number() == 0;
    }

    @Override
    public String toString() {
        return "timers: " + pending + " pending"
                + (claimed.number() == 0 ? "" : ", " + claimed + " claimed")
                + (failed.number() == 0 ? "" : ", " + failed + " failed")
                + (next == null ? "" : ", the next due " + Span.ahead(next))
                + ", " + overdue + " overdue by more than a minute";
    }
}
