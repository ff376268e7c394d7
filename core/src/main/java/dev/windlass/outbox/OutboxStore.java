package dev.windlass.outbox;

import dev.windlass.runtime.Call;
import dev.windlass.runtime.Claimed;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Position;
import dev.windlass.runtime.WorkStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The outbox's routines, called by name. */
final class OutboxStore implements WorkStore<OutboxMessage> {
    private final Database database;
    private final String table;
    private final String nodeName;
    private final Duration retention;

    OutboxStore(Database database, String table, String nodeName, Duration retention) {
        this.database = database;
        this.table = table;
        this.nodeName = nodeName;
        this.retention = retention;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, table + "_" + routine);
    }

    void enqueue(Connection connection, UUID id, OutboxEntry entry, boolean notify) throws SQLException {
        call(connection, "enqueue")
                .text(entry.topic())
                .text(entry.payload())
                .text(entry.correlationId())
                .json(Headers.write(entry.headers()))
                .instant(entry.dueTime())
                .duration(entry.delay())
                .instant(entry.expiresAt())
                .uuid(id)
                .bool(notify)
                .value(row -> id);
    }

    void enqueueAll(Connection connection, List<UUID> ids, Collection<OutboxEntry> entries, boolean notify)
            throws SQLException {
        call(connection, "enqueue_many")
                .uuids(ids)
                .texts(each(entries, OutboxEntry::topic))
                .texts(each(entries, OutboxEntry::payload))
                .texts(optional(entries, OutboxEntry::correlationId))
                .texts(optional(entries, entry -> Headers.write(entry.headers())))
                .instants(optional(entries, OutboxEntry::dueTime))
                .durations(optional(entries, OutboxEntry::delay))
                .instants(optional(entries, OutboxEntry::expiresAt))
                .bool(notify)
                .count();
    }

    boolean exists(Connection connection, UUID id) throws SQLException {
        return find(connection, id).isPresent();
    }

    @Override
    public List<Claimed<OutboxMessage>> claim(
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

    List<Claimed<OutboxMessage>> claimAny(Connection connection, UUID owner, Duration lease, int limit)
            throws SQLException {
        return call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .list(row -> claimed(owner, row));
    }

    private static Claimed<OutboxMessage> claimed(UUID owner, ResultSet row) throws SQLException {
        UUID id = row.getObject(1, UUID.class);
        OutboxMessage message = new OutboxMessage(
                new OutboxWorkItemIdentifier(id),
                row.getString(2),
                row.getString(3),
                Headers.read(row.getString(5)),
                Optional.ofNullable(row.getString(4)),
                instant(row, 6).orElseThrow(),
                instant(row, 7),
                instant(row, 8),
                OutboxStatus.IN_PROGRESS,
                row.getInt(10),
                row.getInt(11),
                Optional.ofNullable(row.getString(12)),
                Optional.empty(),
                Optional.empty());
        return new Claimed<>(
                id,
                owner,
                message.topic(),
                message.retryCount(),
                message.leaseExpiries(),
                new Position(instant(row, 9).orElseThrow(), id),
                row.getLong(13),
                row.getLong(14),
                message);
    }

    private static Optional<Instant> instant(ResultSet row, int column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class)).map(OffsetDateTime::toInstant);
    }

    @Override
    public int ack(Connection connection, List<Held> held) throws SQLException {
        return call(connection, "ack")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .text(nodeName)
                .bool(!retention.isZero())
                .count();
    }

    @Override
    public int abandon(Connection connection, List<Failure> failures) throws SQLException {
        return call(connection, "abandon")
                .uuids(each(failures, failure -> failure.held().id()))
                .uuids(each(failures, failure -> failure.held().owner()))
                .durations(optional(failures, Failure::retryAfter))
                .texts(optional(failures, Failure::error))
                .count();
    }

    @Override
    public int fail(Connection connection, List<Failure> failures) throws SQLException {
        return call(connection, "fail")
                .uuids(each(failures, failure -> failure.held().id()))
                .uuids(each(failures, failure -> failure.held().owner()))
                .texts(optional(failures, Failure::error))
                .text(nodeName)
                .count();
    }

    @Override
    public int release(Connection connection, List<Held> held) throws SQLException {
        return call(connection, "release")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .duration(Duration.ZERO)
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
    public int expire(Connection connection, int limit) throws SQLException {
        return call(connection, "expire").integer(limit).count();
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

    Optional<OutboxMessage> find(Connection connection, UUID id) throws SQLException {
        return call(connection, "find").uuid(id).list(OutboxStore::stored).stream()
                .findFirst();
    }

    private static OutboxMessage stored(ResultSet row) throws SQLException {
        OutboxStatus status = OutboxStatus.of(row.getInt("status"));
        Optional<Instant> endedAt = instant(row, row.findColumn("ended_at"));
        return new OutboxMessage(
                new OutboxWorkItemIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                row.getString("payload"),
                Headers.read(row.getString("headers")),
                Optional.ofNullable(row.getString("correlation_id")),
                instant(row, row.findColumn("created_at")).orElseThrow(),
                instant(row, row.findColumn("due_at")),
                instant(row, row.findColumn("expires_at")),
                status,
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                Optional.ofNullable(row.getString("last_error")),
                status == OutboxStatus.DONE ? endedAt : Optional.empty(),
                Optional.ofNullable(row.getString("processed_by")));
    }

    private static <E, T extends @Nullable Object> List<T> each(Collection<E> elements, Function<E, T> property) {
        List<T> values = new ArrayList<>(elements.size());
        for (E element : elements) {
            values.add(property.apply(element));
        }
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
