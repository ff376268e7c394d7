package dev.windlass.internal.schedule;

import static dev.windlass.internal.database.Instants.instant;

import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.support.Place;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.TimerOperator;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The operator's routines of timers. */
final class StoredTimerOperator extends StoredOperator<TimerIdentifier, ListedTimer> implements TimerOperator {
    private static final Kind<TimerIdentifier, ListedTimer> TIMERS = new Kind<>(
            "timers", TimerIdentifier::value, StoredTimerOperator::listed, last -> Place.at(last.at(), last.id()));

    StoredTimerOperator(Database database, String queue, String who, Effects effects) {
        super(database, queue, who, TIMERS, effects);
    }

    private static ListedTimer listed(ResultSet row, Instant at) throws SQLException {
        return new ListedTimer(
                new TimerIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                WorkStatus.of(row.getInt("status")),
                Optional.ofNullable(row.getString("unique_key")),
                Optional.ofNullable(row.getString("correlation_id")),
                instant(row, "created_at"),
                instant(row, "due_at"),
                at,
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                Optional.ofNullable(row.getString("last_error")),
                row.getObject("erased_at") != null);
    }
}
