package dev.windlass.inbox;

import dev.windlass.runtime.Call;
import dev.windlass.runtime.Claimed;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Headers;
import dev.windlass.runtime.Position;
import dev.windlass.runtime.WorkStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The queue's routines, called by name. */
final class InboxStore implements WorkStore<Delivery> {
    private final Database database;
    private final String table;
    private final String nodeName;
    private final Duration retention;

    InboxStore(Database database, String table, String nodeName, Duration retention) {
        this.database = database;
        this.table = table;
        this.nodeName = nodeName;
        this.retention = retention;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, table + "_" + routine);
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
            Connection connection, UUID owner, Duration lease, int limit, List<Demand> demands) throws SQLException {
        return call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .texts(each(demands, Demand::topic))
                .integers(each(demands, Demand::places))
                .instants(each(demands, demand -> demand.after().at()))
                .uuids(each(demands, demand -> demand.after().id()))
                .list(row -> claimed(owner, row));
    }

    List<Claimed<Delivery>> claimAny(Connection connection, UUID owner, Duration lease, int limit) throws SQLException {
        return call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .list(row -> claimed(owner, row));
    }

    private static Claimed<Delivery> claimed(UUID owner, ResultSet row) throws SQLException {
        UUID id = row.getObject("id", UUID.class);
        InboxMessage message = new InboxMessage(
                new InboxWorkItemIdentifier(id),
                new InboxKey(row.getString("source"), row.getString("message_id")),
                row.getString("topic"),
                row.getString("payload"),
                Headers.read(row.getString("headers")),
                Rows.instant(row, "first_seen_at").orElseThrow(),
                Rows.instant(row, "due_at"),
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
                message.revivals(),
                false,
                new Position(Rows.instant(row, "next_attempt_at").orElseThrow(), id),
                row.getLong("claim_xid"),
                row.getLong("snapshot_xmin"),
                new Delivery(message, owner));
    }

    @Override
    public int ack(Connection connection, List<Held> held) throws SQLException {
        return ack(connection, held, true);
    }

    /** In the transaction of the work: what was ended before does not count, or the work would be done again. */
    int ackWithWork(Connection connection, List<Held> held) throws SQLException {
        return ack(connection, held, false);
    }

    private int ack(Connection connection, List<Held> held, boolean again) throws SQLException {
        return call(connection, "ack")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .text(nodeName)
                .bool(again)
                .count();
    }

    @Override
    public int abandon(Connection connection, List<Failure> failures) throws SQLException {
        return call(connection, "abandon")
                .uuids(each(failures, failure -> failure.held().id()))
                .uuids(each(failures, failure -> failure.held().owner()))
                .durations(optional(failures, Failure::retryAfter))
                .texts(optional(failures, Failure::error))
                .bools(each(failures, Failure::counted))
                .count();
    }

    @Override
    public int fail(Connection connection, List<Ending> endings) throws SQLException {
        return call(connection, "fail")
                .uuids(each(endings, ending -> ending.held().id()))
                .uuids(each(endings, ending -> ending.held().owner()))
                .texts(each(endings, Ending::error))
                .text(nodeName)
                .count();
    }

    @Override
    public int release(Connection connection, List<Held> held) throws SQLException {
        return call(connection, "release")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .count();
    }

    @Override
    public Set<UUID> heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
        return new HashSet<>(call(connection, "heartbeat")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .duration(lease)
                .list(row -> row.getObject(1, UUID.class)));
    }

    @Override
    public int reap(Connection connection, Duration quiet, int limit) throws SQLException {
        return call(connection, "reap").duration(quiet).integer(limit).count();
    }

    @Override
    public int clean(Connection connection, int limit) throws SQLException {
        return call(connection, "clean").duration(retention).integer(limit).count();
    }

    @Override
    public Optional<Duration> nextDue(Connection connection, List<Demand> demands) throws SQLException {
        return call(connection, "next_due")
                .texts(each(demands, Demand::topic))
                .instants(each(demands, demand -> demand.after().at()))
                .uuids(each(demands, demand -> demand.after().id()))
                .value(row -> Optional.ofNullable(row.getObject(1, Long.class)).map(Duration::ofMillis));
    }

    @Override
    public Set<String> readyTopics(Connection connection) throws SQLException {
        return new HashSet<>(call(connection, "ready_topics").list(row -> row.getString(1)));
    }

    private static <E, T extends @Nullable Object> List<T> each(Collection<E> elements, Function<E, T> property) {
        List<T> values = new ArrayList<>(elements.size());
        elements.forEach(element -> values.add(property.apply(element)));
        return values;
    }

    /** The property of each, or null when none has it. */
    private static <E, T> @Nullable List<@Nullable T> optional(
            Collection<E> elements, Function<E, @Nullable T> property) {
        List<@Nullable T> values = new ArrayList<>(elements.size());
        boolean any = false;
        for (E element : elements) {
            T value = property.apply(element);
            any |= value != null;
            values.add(value);
        }
        return any ? values : null;
    }
}
