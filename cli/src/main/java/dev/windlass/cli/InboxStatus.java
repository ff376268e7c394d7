package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The inbox in one line; each number is counted along an index, up to a limit. */
record InboxStatus(long ready, long inProgress, long done, long dead) {
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
                return new InboxStatus(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4));
            }
        }
    }

    boolean isEmpty() {
        return ready + inProgress + done + dead == 0;
    }

    @Override
    public String toString() {
        return "inbox: " + number(ready) + " ready, " + number(inProgress) + " in progress, " + number(done) + " done, "
                + number(dead) + " dead";
    }

    private static String number(long count) {
        return count >= TopicStatus.MAX_OTHERS ? count + "+" : Long.toString(count);
    }
}
