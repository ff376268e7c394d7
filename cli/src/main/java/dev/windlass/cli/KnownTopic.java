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

    /** Of whichever queue. */
    private static final String IN_A_QUEUE = """
            select exists (select from %1$s m where m.status = 0 and not m.keyed and m.topic = ?)
                or exists (select from %1$s m where m.status = 3 and m.topic = ?)
                or exists (select from (select m.topic from %1$s m where m.status = 1 order by m.locked_until limit %2$d) c
                            where c.topic = ?)
                or exists (select from (select m.topic from %1$s m where m.status = 2 order by m.ended_at desc limit %2$d) c
                            where c.topic = ?)""";

    /** Those that wait for their turn. */
    private static final String WAITING = """
            select exists (select from (select m.topic from %1$s m where m.status = 4
                                         order by m.ordering_key, m.ordering_sequence limit %2$d) c
                            where c.topic = ?)""";

    /** Those that take turns. */
    private static final String IN_TURNS =
            "select exists (select from %1$s m where m.status = 0 and m.keyed and m.topic = ?)";

    private KnownTopic() {}

    static boolean inTheOutbox(OutboxSession session, String topic) {
        String outbox = session.schema().qualified("");
        return in(outbox, session, topic)
                || in(session.schema().qualified("_timer"), session, topic)
                || finds(WAITING, outbox, session, topic);
    }

    static boolean ofAJob(OutboxSession session, String topic) {
        return session.windlass().jobs().list().stream().map(JobState::job).anyMatch(job -> topic.equals(job.topic()));
    }

    /**
     * @param table of a queue, quoted for SQL
     */
    static boolean in(String table, OutboxSession session, String topic) {
        return finds(IN_A_QUEUE, table, session, topic);
    }

    static boolean inTurns(String table, OutboxSession session, String topic) {
        return finds(IN_TURNS, table, session, topic);
    }

    private static boolean finds(String text, String table, OutboxSession session, String topic) {
        String sql = text.formatted(table, LATEST);
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
