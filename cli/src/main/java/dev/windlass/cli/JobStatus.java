package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * The jobs in one line.
 *
 * @param next how far away the next run is; negative if it is late
 */
record JobStatus(
        Count jobs, long paused, long problems, @Nullable Duration next) {
    private static final int MAX_SECONDS = 30;

    private static final String SQL = """
            select count(*), count(c.paused_at), count(c.problem),
                   (select j.fires_at from %1$s j where j.fires_at is not null order by j.fires_at limit 1),
                   clock_timestamp()
              from (select j.paused_at, j.problem from %1$s j limit %2$d) c""";

    static JobStatus read(Connection connection, SchemaOptions schema) throws SQLException {
        String sql = SQL.formatted(schema.qualified("_job"), TopicStatus.MOST);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(MAX_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new JobStatus(
                        Count.upTo(TopicStatus.MOST, row.getLong(1)), row.getLong(2), row.getLong(3), next(row));
            }
        }
    }

    private static @Nullable Duration next(ResultSet row) throws SQLException {
        OffsetDateTime next = row.getObject(4, OffsetDateTime.class);
        return next == null ? null : Duration.between(row.getObject(5, OffsetDateTime.class), next);
    }

    boolean isEmpty() {
        return jobs.number() == 0;
    }

    @Override
    public String toString() {
        return "jobs: " + jobs + ", " + paused + " paused, " + problems + " with a problem"
                + (next == null ? "" : ", the next due " + Span.ahead(next));
    }
}
