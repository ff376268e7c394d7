package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The inbox in one line; each number is counted along an index, up to a limit. */
record InboxStatus(Count ready, Count inProgress, Count done, Count dead) {
    private static final int MAX_SECONDS = 30;

    private static final String SQL = """
            select (select count(*) from (select from %1$s m where m.status = 0 and m.topic is not null limit %2$d) c),
                   (select count(*) from (select from %1$s m where m.status = 1 and m.id is not null limit %2$d) c)
                 + (select count(*) from (select from %1$s m where m.status = 1 and m.id is null limit %2$d) c),
                   (select count(*) from (select from %1$s m where m.status = 2 limit %2$d) c),
                   (select count(*) from (select from %1$s m where m.status = 3 limit %2$d) c)""";

    static InboxStatus read(Connection connection, SchemaOptions schema) throws SQLException {
        String sql = SQL.formatted(schema.qualifiedName(schema.inboxTable), TopicStatus.MAX_OTHERS);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(MAX_SECONDS);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new InboxStatus(count(row, 1), count(row, 2), count(row, 3), count(row, 4));
            }
        }
    }

    boolean isEmpty() {
        return ready.number() + inProgress.number() + done.number() + dead.number() == 0;
    }

    private static Count count(ResultSet row, int column) throws SQLException {
        return Count.upTo(TopicStatus.MAX_OTHERS, row.getLong(column));
    }

    @Override
    public String toString() {
        return "inbox: " + ready + " ready, " + inProgress + " in progress, " + done + " done, " + dead + " dead";
    }
}
