package dev.windlass.inbox;

import static dev.windlass.runtime.Columns.each;
import static dev.windlass.runtime.Columns.optional;
import static dev.windlass.runtime.Instants.instant;
import static dev.windlass.runtime.Instants.optionalInstant;

import dev.windlass.runtime.Claimed;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Headers;
import dev.windlass.runtime.Position;
import dev.windlass.runtime.RoutineStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The queue's routines, called by name. */
final class InboxStore extends RoutineStore<Delivery> {

    InboxStore(Database database, String table, String nodeName, Duration retention) {
        super(database, table, nodeName, retention);
    }

    /** Repeated with the same ids, it answers the same. */
    List<Enqueued> enqueue(Connection connection, List<UUID> ids, Collection<InboxEntry> entries, boolean notify)
            throws SQLException {
        return call(connection, "enqueue_all")
                .texts(each(entries, entry -> entry.key().source()))
                .texts(each(entries, entry -> entry.key().messageId()))
                .texts(each(entries, InboxEntry::topic))
                .texts(each(entries, InboxEntry::payload))
                .texts(optional(entries, entry -> Headers.write(entry.headers())))
                .texts(optional(entries, entry -> hex(entry.hash())))
                .instants(optional(entries, InboxEntry::dueTime))
                .durations(optional(entries, InboxEntry::delay))
                .bool(notify)
                .uuids(ids)
                .list(row -> new Enqueued(row.getBoolean("fresh"), row.getBoolean("differs")));
    }

    private static @Nullable String hex(@Nullable ContentHash hash) {
        return hash == null ? null : hash.hex();
    }

    @Override
    public List<Claimed<Delivery>> claim(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return claiming(connection, owner, lease, limit, demands).list(row -> claimed(owner, row));
    }

    List<Claimed<Delivery>> claimAny(Connection connection, UUID owner, Duration lease, int limit) throws SQLException {
        return claimingAny(connection, owner, lease, limit).list(row -> claimed(owner, row));
    }

    private static Claimed<Delivery> claimed(UUID owner, ResultSet row) throws SQLException {
        UUID id = row.getObject("id", UUID.class);
        InboxMessage message = new InboxMessage(
                new InboxWorkItemIdentifier(id),
                new InboxKey(row.getString("source"), row.getString("message_id")),
                row.getString("topic"),
                row.getString("payload"),
                Headers.read(row.getString("headers")),
                instant(row, "first_seen_at"),
                optionalInstant(row, "due_at"),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("revivals"),
                Optional.ofNullable(row.getString("last_error")));
        return new Claimed<>(
                id,
                owner,
                message.topic(),
                message.retryCount(),
                message.leaseExpiries(),
                0,
                message.revivals(),
                false,
                message.payload().length(),
                new Position(instant(row, "next_attempt_at"), id),
                row.getLong("claim_xid"),
                row.getLong("snapshot_xmin"),
                new Delivery(message, owner),
                null);
    }

    @Override
    public Answer ack(Connection connection, List<Held> held) throws SQLException {
        return ack(connection, held, true);
    }

    /** In the transaction of the work: what was ended before does not count, or the work would be done again. */
    int ackWithWork(Connection connection, List<Held> held) throws SQLException {
        return ack(connection, held, false).changed();
    }

    private Answer ack(Connection connection, List<Held> held, boolean again) throws SQLException {
        return Answer.all(call(connection, "ack")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .text(nodeName)
                .bool(again)
                .count());
    }

    @Override
    public Answer abandon(Connection connection, List<Failure> failures) throws SQLException {
        return Answer.all(call(connection, "abandon")
                .uuids(each(failures, failure -> failure.held().id()))
                .uuids(each(failures, failure -> failure.held().owner()))
                .durations(optional(failures, Failure::retryAfter))
                .texts(optional(failures, Failure::error))
                .bools(each(failures, Failure::counted))
                .count());
    }

    @Override
    public Answer fail(Connection connection, List<Ending> endings) throws SQLException {
        return Answer.all(call(connection, "fail")
                .uuids(each(endings, ending -> ending.held().id()))
                .uuids(each(endings, ending -> ending.held().owner()))
                .texts(each(endings, Ending::error))
                .text(nodeName)
                .count());
    }
}
