package dev.windlass.internal.queue;

import static dev.windlass.internal.database.Columns.each;

import dev.windlass.base.QueueKind;
import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/** Asks how much there is in the queues of a store, in one statement. */
public record Measuring(Database database, List<Measured> queues) {

    /** A queue, and the name of its table. */
    public record Measured(QueueKind queue, String table) {}

    public Measuring {
        queues = List.copyOf(queues);
    }

    /**
     * Asks.
     *
     * @param most where counting stops
     */
    public List<QueueMeasure> measure(int most) throws SQLException {
        if (queues.isEmpty()) {
            return List.of();
        }
        Iterator<Measured> next = queues.iterator();
        return database.once(connection -> Call.together(
                each(
                        queues,
                        queue -> database.call(connection, queue.table() + "_measure")
                                .integer(most)),
                rows -> row -> measure(next.next().queue(), row)));
    }

    private static QueueMeasure measure(QueueKind queue, ResultSet row) throws SQLException {
        return new QueueMeasure(
                queue,
                row.getLong("ready"),
                row.getLong("delayed"),
                row.getLong("waiting"),
                row.getLong("in_progress"),
                row.getLong("failed"),
                row.getLong("overdue"),
                row.getLong("stuck"),
                Optional.ofNullable(row.getObject("oldest_ready_ms", Long.class))
                        .map(Duration::ofMillis),
                row.getBoolean("more_topics"));
    }
}
