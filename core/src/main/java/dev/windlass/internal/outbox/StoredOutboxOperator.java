package dev.windlass.internal.outbox;

import static dev.windlass.internal.database.Instants.instant;

import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.support.Place;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** What an operator can do to an outbox alone. */
final class StoredOutboxOperator extends StoredOperator<OutboxMessageIdentifier, ListedMessage>
        implements OutboxOperator {
    private static final Kind<OutboxMessageIdentifier, ListedMessage> MESSAGES = new Kind<>(
            "messages",
            OutboxMessageIdentifier::value,
            StoredOutboxOperator::listed,
            last -> Place.at(
                    last.at(),
                    last.id(),
                    last.orderingKey().orElse(null),
                    last.orderingSequence().orElse(null)));

    StoredOutboxOperator(Database database, String table, String who, Effects effects) {
        super(database, table, who, MESSAGES, effects);
    }

    /** Those that wait come key by key. */
    @Override
    protected Call after(Place last, Call call) {
        return super.after(last, call).text(last.text(2)).number(last.number(3));
    }

    private static ListedMessage listed(ResultSet row, Instant at) throws SQLException {
        return new ListedMessage(
                new OutboxMessageIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                Optional.ofNullable(row.getString("source")),
                WorkStatus.of(row.getInt("status")),
                Optional.ofNullable(row.getString("correlation_id")),
                Optional.ofNullable(row.getString("ordering_key")),
                Optional.ofNullable(row.getObject("ordering_sequence", Long.class)),
                row.getBoolean("blocks_key"),
                instant(row, "created_at"),
                at,
                Optional.ofNullable(row.getString("processed_by")),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                Optional.ofNullable(row.getString("last_error")),
                row.getObject("erased_at") != null);
    }

    @Override
    public int skip(Collection<OutboxMessageIdentifier> ids) {
        return change("skip", ids, UnaryOperator.identity());
    }

    @Override
    public int skip(MessageFilter failed) {
        return change("skip", failed, UnaryOperator.identity());
    }
}
