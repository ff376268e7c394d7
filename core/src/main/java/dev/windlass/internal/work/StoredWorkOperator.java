package dev.windlass.internal.work;

import static dev.windlass.internal.database.Instants.instant;

import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.support.Place;
import dev.windlass.work.ListedWork;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkOperator;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The operator's routines of the work queue. */
final class StoredWorkOperator extends StoredOperator<WorkIdentifier, ListedWork> implements WorkOperator {
    private static final Kind<WorkIdentifier, ListedWork> ITEMS = new Kind<>(
            "items", WorkIdentifier::value, StoredWorkOperator::listed, last -> Place.at(last.at(), last.id()));

    StoredWorkOperator(Database database, String table, String who, Effects effects) {
        super(database, table, who, ITEMS, effects);
    }

    private static ListedWork listed(ResultSet row, Instant at) throws SQLException {
        return new ListedWork(
                new WorkIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                row.getString("type"),
                WorkStatus.of(row.getInt("status")),
                row.getInt("priority"),
                Optional.ofNullable(row.getString("turn_key")),
                Optional.ofNullable(row.getString("unique_key")),
                Optional.ofNullable(row.getString("correlation_id")),
                instant(row, "created_at"),
                at,
                Optional.ofNullable(row.getString("processed_by")),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                WorkItemStore.progress(row),
                Optional.ofNullable(row.getString("progress_text")),
                Optional.ofNullable(row.getString("last_error")),
                row.getObject("erased_at") != null);
    }
}
