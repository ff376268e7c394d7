package dev.windlass.cli;

import dev.windlass.schedule.JobState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Whether anything in the database has a topic. Ready and failed messages and timers are found along their indexes; of others,
 * which have no index by topic, the latest thousand of each state are looked at.
 */
final class KnownTopic {
    private static final int LATEST = 1_000;

    private static final String SQL = """
            select exists (select from %1$s m where m.status = 0 and m.topic = ?)
                or exists (select from %1$s m where m.status = 3 and m.topic = ?)
                or exists (select from %2$s t where t.topic = ?)
                or exists (select from (select m.topic from %1$s m where m.status = 1 order by m.locked_until limit %3$d) c
                            where c.topic = ?)
                or exists (select from (select m.topic from %1$s m where m.status = 2 order by m.ended_at desc limit %3$d) c
                            where c.topic = ?)
                or exists (select from (select m.topic from %1$s m where m.status = 4
                                         order by m.ordering_key, m.ordering_sequence limit %3$d) c
                            where c.topic = ?)""";

    private KnownTopic() {}

    static boolean isKnown(OutboxSession session, String topic) {
        return isInTheOutbox(session, topic)
                || session.windlass().jobs().list().stream()
                        .map(JobState::job)
                        .anyMatch(job -> topic.equals(job.topic()));
    }

    private static boolean isInTheOutbox(OutboxSession session, String topic) {
        String sql =
                SQL.formatted(session.schema().qualified(""), session.schema().qualified("_timer"), LATEST);
        try (Connection connection = session.target().connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 1; i <= statement.getParameterMetaData().getParameterCount(); i++) {
                statement.setString(i, topic);
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        } catch (SQLException e) {
            throw CommandFailure.of("look for topic " + topic, e);
        }
    }
}
