package dev.windlass.outbox;

import static dev.windlass.runtime.Columns.each;
import static dev.windlass.runtime.Columns.optional;

import dev.windlass.FailedHead;
import dev.windlass.outbox.OutboxEntry.Deduplication;
import dev.windlass.runtime.Claimed;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Headers;
import dev.windlass.runtime.Position;
import dev.windlass.runtime.RoutineStore;
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
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The outbox's routines, called by name. */
final class OutboxStore extends RoutineStore<OutboxMessage> {
    private final BooleanSupplier announce;

    OutboxStore(Database database, String table, String nodeName, Duration retention, BooleanSupplier announce) {
        super(database, table, nodeName, retention);
        this.announce = announce;
    }

    /** Returns the id that stands: of this message, or of the one that was first under its deduplication key. */
    UUID enqueue(Connection connection, UUID id, OutboxEntry entry, boolean notify) throws SQLException {
        Deduplication once = entry.deduplication();
        return call(connection, "enqueue")
                .text(entry.topic())
                .text(entry.payload())
                .text(entry.correlationId())
                .json(Headers.write(entry.headers()))
                .instant(entry.dueTime())
                .duration(entry.delay())
                .instant(entry.expiresAt())
                .uuid(id)
                .bool(notify)
                .text(entry.orderingKey())
                .text(once == null ? null : once.key())
                .duration(once == null ? null : once.window())
                .value(row -> row.getObject(1, UUID.class));
    }

    /** Returns the ids that stand, in the order of the entries. */
    List<UUID> enqueueAll(Connection connection, List<UUID> ids, Collection<OutboxEntry> entries, boolean notify)
            throws SQLException {
        List<@Nullable String> keys = optional(entries, entry -> key(entry.deduplication()));
        return call(connection, "enqueue_all")
                .uuids(ids)
                .texts(each(entries, OutboxEntry::topic))
                .texts(each(entries, OutboxEntry::payload))
                .texts(optional(entries, OutboxEntry::correlationId))
                .texts(optional(entries, entry -> Headers.write(entry.headers())))
                .instants(optional(entries, OutboxEntry::dueTime))
                .durations(optional(entries, OutboxEntry::delay))
                .instants(optional(entries, OutboxEntry::expiresAt))
                .bool(notify)
                .texts(optional(entries, OutboxEntry::orderingKey))
                .texts(keys)
                .durations(windows(entries))
                .value(row ->
                        keys == null ? ids : List.of((UUID[]) row.getArray(1).getArray()));
    }

    private static @Nullable String key(@Nullable Deduplication once) {
        return once == null ? null : once.key();
    }

    /** One for each entry, or one for all. */
    private static @Nullable List<@Nullable Duration> windows(Collection<OutboxEntry> entries) {
        List<@Nullable Duration> windows = optional(entries, entry -> window(entry.deduplication()));
        if (windows == null) {
            return null;
        }
        List<@Nullable Duration> different =
                windows.stream().filter(Objects::nonNull).distinct().limit(2).toList();
        return different.size() == 1 ? different : windows;
    }

    private static @Nullable Duration window(@Nullable Deduplication once) {
        return once == null ? null : once.window();
    }

    boolean exists(Connection connection, UUID id) throws SQLException {
        return find(connection, id).isPresent();
    }

    @Override
    public List<Claimed<OutboxMessage>> claim(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return claiming(connection, owner, lease, limit, demands).list(row -> claimed(owner, row));
    }

    List<Claimed<OutboxMessage>> claimAny(Connection connection, UUID owner, Duration lease, int limit)
            throws SQLException {
        return claimingAny(connection, owner, lease, limit).list(row -> claimed(owner, row));
    }

    private static Claimed<OutboxMessage> claimed(UUID owner, ResultSet row) throws SQLException {
        UUID id = row.getObject(1, UUID.class);
        OutboxMessage message = new OutboxMessage(
                new OutboxWorkItemIdentifier(id),
                row.getString(2),
                row.getString(3),
                Headers.read(row.getString(5)),
                Optional.ofNullable(row.getString(4)),
                Optional.ofNullable(row.getString(15)),
                instant(row, 6).orElseThrow(),
                instant(row, 7),
                instant(row, 8),
                OutboxStatus.IN_PROGRESS,
                row.getInt(10),
                row.getInt(11),
                row.getInt(16),
                Optional.ofNullable(row.getString(12)),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
        return new Claimed<>(
                id,
                owner,
                message.topic(),
                message.retryCount(),
                message.leaseExpiries(),
                0,
                message.requeues(),
                message.orderingKey().isPresent(),
                message.payload().length(),
                new Position(instant(row, 9).orElseThrow(), id),
                row.getLong(13),
                row.getLong(14),
                message,
                null);
    }

    private static Optional<Instant> instant(ResultSet row, int column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class)).map(OffsetDateTime::toInstant);
    }

    @Override
    public Answer ack(Connection connection, List<Held> held) throws SQLException {
        return Answer.all(call(connection, "ack")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .text(nodeName)
                .bool(!retention.isZero())
                .bool(announces(held.stream()))
                .count());
    }

    @Override
    public Acked<OutboxMessage> ackAndTake(Connection connection, List<Held> held, Taker taker) throws SQLException {
        List<Claimed<OutboxMessage>> taken = new ArrayList<>();
        int[] counts = new int[2];
        call(connection, "ack_next")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .text(nodeName)
                .bool(!retention.isZero())
                .bool(announces(held.stream()))
                .uuid(taker.owner())
                .duration(taker.lease())
                .texts(List.copyOf(taker.topics()))
                .list(row -> {
                    counts[0] = row.getInt("acked");
                    counts[1] = row.getInt("left_keys");
                    return row.getObject(1) == null || taken.add(claimed(taker.owner(), row));
                });
        return new Acked<>(Answer.all(counts[0]), taken, counts[1] > 0);
    }

    /** Whether to tell other nodes of what becomes ready when these end. */
    private boolean announces(Stream<Held> ended) {
        return ended.anyMatch(Held::ordered) && announce.getAsBoolean();
    }

    @Override
    public Answer abandon(Connection connection, List<Failure> failures) throws SQLException {
        return Answer.all(call(connection, "abandon")
                .uuids(each(failures, failure -> failure.held().id()))
                .uuids(each(failures, failure -> failure.held().owner()))
                .durations(optional(failures, Failure::retryAfter))
                .texts(optional(failures, Failure::error))
                .text(nodeName)
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
                .bools(each(endings, ending -> ending.head() == FailedHead.BLOCKS))
                .bool(announces(endings.stream().map(Ending::held)))
                .count());
    }

    @Override
    public int expire(Connection connection, int limit) throws SQLException {
        return call(connection, "expire").integer(limit).count();
    }

    @Override
    public int forget(Connection connection, int limit) throws SQLException {
        return call(connection, "forget").integer(limit).count();
    }

    @Override
    public Set<String> pausedTopics(Connection connection) throws SQLException {
        return new HashSet<>(call(connection, "paused_topics").list(row -> row.getString("topic")));
    }

    Optional<OutboxMessage> find(Connection connection, UUID id) throws SQLException {
        return call(connection, "find").uuid(id).list(OutboxStore::stored).stream()
                .findFirst();
    }

    private static OutboxMessage stored(ResultSet row) throws SQLException {
        return new OutboxMessage(
                new OutboxWorkItemIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                row.getString("payload"),
                Headers.read(row.getString("headers")),
                Optional.ofNullable(row.getString("correlation_id")),
                Optional.ofNullable(row.getString("ordering_key")),
                instant(row, row.findColumn("created_at")).orElseThrow(),
                instant(row, row.findColumn("due_at")),
                instant(row, row.findColumn("expires_at")),
                OutboxStatus.of(row.getInt("status")),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                Optional.ofNullable(row.getString("last_error")),
                instant(row, row.findColumn("ended_at")),
                Optional.ofNullable(row.getString("processed_by")),
                instant(row, row.findColumn("erased_at")));
    }

    List<FailedAttempt> failures(Connection connection, UUID id) throws SQLException {
        return call(connection, "failures")
                .uuid(id)
                .list(row -> new FailedAttempt(
                        instant(row, row.findColumn("failed_at")).orElseThrow(),
                        row.getInt("attempt"),
                        Optional.ofNullable(row.getString("node")),
                        Optional.ofNullable(row.getString("error"))));
    }

    boolean cancel(Connection connection, UUID id) throws SQLException {
        return call(connection, "cancel").uuids(List.of(id)).count() == 1;
    }

    boolean reschedule(Connection connection, UUID id, Instant dueTime) throws SQLException {
        return call(connection, "reschedule")
                        .uuids(List.of(id))
                        .instant(dueTime)
                        .count()
                == 1;
    }
}
