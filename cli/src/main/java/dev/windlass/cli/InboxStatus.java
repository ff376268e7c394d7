package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The inbox in one line; each number is counted along an index, up to a limit. */
record InboxStatus(Count ready, Count inProgress, Count done, Count failed) {
    private static final int MAX_SECONDS = 30;

    private static final String SQL = """
            select (select count(*) from (select from %1$s m where m.status = 0 and not m.keyed limit %3$d) c),
                   (select count(*) from (select from %1$s m where m.status = 1 limit %3$d) c)
                 + (select count(*) from (select from %2$s s where s.status = 1 limit %3$d) c),
                   (select count(*) from (select from %1$s m where m.status = 2 and m.ended_at is not null limit %3$d) c)
                 + (select count(*) from (select from %2$s s where s.status = 2 limit %3$d) c),
                   (select count(*) from (select from %1$s m where m.status = 3 limit %3$d) c)
                 + (select count(*) from (select from %2$s s where s.status = 3 limit %3$d) c)""";

    static InboxStatus read(Connection connection, SchemaOptions schema) throws SQLException {
        String sql = SQL.formatted(
                schema.qualifiedName(schema.inboxTable),
                schema.qualifiedName(schema.inboxTable + "_seen"),
                TopicStatus.MAX_OTHERS);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(MAX_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new InboxStatus(count(row, 1), count(row, 2), count(row, 3), count(row, 4));
            }
        }
    }

    boolean isEmpty() {
        return ready.number() + inProgress.number() + done.number() + failed.number() == 0;
    }

    private static Count count(ResultSet row, int column) throws SQLException {
        return Count.upTo(TopicStatus.MAX_OTHERS, row.getLong(column));
    }

    @Override
    public String toString() {
        return "inbox: " + ready + " ready, " + inProgress + " in progress, " + done + " done, " + failed + " failed";
    }
}
