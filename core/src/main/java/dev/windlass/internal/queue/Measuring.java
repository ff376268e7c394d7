package dev.windlass.internal.queue;

import dev.windlass.base.QueueKind;
import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.database.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Asks how much there is in one queue. */
public record Measuring(Database database, String table, QueueKind queue) {

    /**
     * Asks.
     *
     * @param most where counting stops
     */
    public QueueMeasure measure(int most) throws SQLException {
        return database.once(connection -> database.call(connection, table + "_measure")
                .integer(most)
                .list(row -> new QueueMeasure(
                        queue,
                        row.getLong("ready"),
                        row.getLong("delayed"),
                        row.getLong("waiting"),
                        row.getLong("in_progress"),
                        row.getLong("failed"),
                        row.getLong("overdue"),
                        row.getLong("stuck"),
                        Optional.ofNullable(row.getObject("oldest_ready_ms", Long.class))
                                .map(Duration::ofMillis)))
                .get(0));
    }
}
