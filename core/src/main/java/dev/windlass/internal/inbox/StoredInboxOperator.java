package dev.windlass.internal.inbox;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Instants.instant;
import static dev.windlass.internal.database.Instants.optionalInstant;

import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.inbox.ListedMessage;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.support.Place;
import dev.windlass.internal.support.Require;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The operator's routines of a queue, in the inbox's form: they name messages by their keys, queued or not. */
final class StoredInboxOperator extends StoredOperator<InboxKey, ListedMessage> implements InboxOperator {
    private static final Kind<InboxKey, ListedMessage> MESSAGES = new Kind<>(
            "messages",
            StoredInboxOperator::listed,
            last -> Place.at(
                    last.at(),
                    last.id().map(InboxWorkItemIdentifier::value).orElse(null),
                    last.status().code(),
                    last.key().source(),
                    last.key().messageId()));

    private final Database database;

    StoredInboxOperator(Database database, String table, String who, Effects effects) {
        super(database, table, who, MESSAGES, effects);
        this.database = database;
    }

    @Override
    protected Call call(Connection connection, String routine) {
        return switch (routine) {
            case "list", "erase" -> super.call(connection, routine + "_seen");
            case "requeue", "purge" -> super.call(connection, "change_seen").text(routine);
            default -> super.call(connection, routine);
        };
    }

    @Override
    protected Call named(@Nullable List<InboxKey> keys, Call call) {
        return call.texts(keys == null ? null : each(keys, InboxKey::source))
                .texts(keys == null ? null : each(keys, InboxKey::messageId));
    }

    @Override
    protected Call after(Place last, Call call) {
        return super.after(last, call)
                .integer(last.integer(2))
                .text(last.text(3))
                .text(last.text(4));
    }

    private static ListedMessage listed(ResultSet row, Instant at) throws SQLException {
        UUID id = row.getObject("id", UUID.class);
        return new ListedMessage(
                new InboxKey(row.getString("source"), row.getString("message_id")),
                Optional.ofNullable(id).map(InboxWorkItemIdentifier::new),
                Optional.ofNullable(row.getString("topic")),
                WorkStatus.of(row.getInt("status")),
                instant(row, "created_at"),
                id == null ? instant(row, "state_at") : at,
                optionalInstant(row, "claimed_at"),
                Optional.ofNullable(row.getString("processed_by")),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                Optional.ofNullable(row.getString("last_error")),
                row.getObject("erased_at") != null);
    }

    @Override
    public List<ListedMessage> stuck(Duration olderThan, int limit) {
        Require.notNegative("age", olderThan);
        Require.positive("limit", limit);
        return database.retrying(
                "list stuck messages",
                connection -> call(connection, "stuck")
                        .integer(limit)
                        .duration(olderThan)
                        .list(row -> listed(row, instant(row, "state_at"))));
    }
}
