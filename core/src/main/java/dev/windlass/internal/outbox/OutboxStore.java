package dev.windlass.internal.outbox;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Columns.optional;

import dev.windlass.base.QueueKind;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.database.SqlType;
import dev.windlass.internal.dispatch.FirstHand;
import dev.windlass.internal.join.JoinStore;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.KeepingStore;
import dev.windlass.internal.queue.OrderedStore;
import dev.windlass.internal.queue.QueueStore;
import dev.windlass.internal.support.Headers;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxEntry.Deduplication;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The outbox's routines, called by name. */
final class OutboxStore extends QueueStore<OutboxMessage>
        implements OrderedStore<OutboxMessage>, KeepingStore<OutboxMessage> {
    private static final List<String> CLAIMED_COLUMNS = commonColumnsAnd(
            "headers", "correlation_id", "ordering_key", "created_at", "due_at", "expires_at", "last_error", "source");

    private final OutboxOptions options;
    private final BooleanSupplier announce;
    final JoinStore joins;

    OutboxStore(Database database, OutboxOptions options, String nodeName, BooleanSupplier announce) {
        super(database, options.tableName(), nodeName, options.queue().retention());
        this.options = options;
        this.joins = new JoinStore(database, options.tableName());
        this.announce = announce;
    }

    /** Returns the id that stands: of this message, or of the one that was first under its deduplication key. */
    UUID enqueue(Connection connection, UUID id, OutboxEntry entry, boolean notify) throws SQLException {
        return enqueue(connection, id, entry, notify, null);
    }

    /**
     * The same.
     *
     * @param place if given, for a message that this node keeps
     */
    UUID enqueue(
            Connection connection,
            UUID id,
            OutboxEntry entry,
            boolean notify,
            FirstHand<OutboxMessage>.@Nullable Place place)
            throws SQLException {
        Deduplication once = entry.deduplication();
        return call(connection, "enqueue")
                .text(entry.topic())
                .text(entry.payload())
                .optional("p_correlation_id", SqlType.TEXT, entry.correlationId())
                .optional("p_headers", SqlType.JSON, headers(QueueKind.OUTBOX, entry.topic(), entry.headers()))
                .optional("p_due_at", SqlType.INSTANT, entry.dueTime())
                .optional("p_delay", SqlType.DURATION, entry.delay())
                .optional("p_expires_at", SqlType.INSTANT, entry.expiresAt())
                .optional("p_id", SqlType.UUID, id)
                .optional("p_notify", SqlType.BOOLEAN, notify)
                .optional("p_ordering_key", SqlType.TEXT, entry.orderingKey())
                .optional("p_dedup_key", SqlType.TEXT, once == null ? null : once.key())
                .optional("p_dedup_window", SqlType.DURATION, once == null ? null : once.window())
                .optional("p_join_id", SqlType.UUID, join(entry))
                .optional("p_owner", SqlType.UUID, place == null ? null : place.owner())
                .optional("p_lease", SqlType.DURATION, place == null ? null : place.lease())
                .value(row -> row.getObject(1, UUID.class));
    }

    /** Returns the ids that stand, in the order of the entries. */
    List<UUID> enqueueAll(Connection connection, List<UUID> ids, Collection<OutboxEntry> entries, boolean notify)
            throws SQLException {
        boolean mine = entries.stream().allMatch(entry -> entry.deduplication() == null);
        return written(call(connection, "enqueue_all"), ids, entries, notify)
                .uuids(optional(entries, OutboxStore::join))
                .value(row -> mine ? ids : List.of((UUID[]) row.getArray(1).getArray()));
    }

    private Call written(Call call, List<UUID> ids, Collection<OutboxEntry> entries, boolean notify) {
        return call.uuids(ids)
                .texts(each(entries, OutboxEntry::topic))
                .texts(each(entries, OutboxEntry::payload))
                .texts(optional(entries, OutboxEntry::correlationId))
                .texts(optional(entries, entry -> headers(QueueKind.OUTBOX, entry.topic(), entry.headers())))
                .instants(optional(entries, OutboxEntry::dueTime))
                .durations(optional(entries, OutboxEntry::delay))
                .instants(optional(entries, OutboxEntry::expiresAt))
                .bool(notify)
                .texts(optional(entries, OutboxEntry::orderingKey))
                .texts(optional(entries, entry -> key(entry.deduplication())))
                .durations(windows(entries));
    }

    /** Returns the ids that stand, in the order of the steps; or none, if an earlier call with the same id has written them. */
    List<UUID> fanOut(
            Connection connection,
            JoinIdentifier id,
            UUID followUpId,
            JoinEntry join,
            List<UUID> ids,
            Collection<OutboxEntry> steps,
            boolean notify)
            throws SQLException {
        Call call = JoinStore.started(call(connection, "fan_out"), id, followUpId, join);
        return written(call, ids, steps, notify)
                .list(row -> {
                    Array stand = row.getArray("message_ids");
                    return stand == null ? List.<UUID>of() : List.of((UUID[]) stand.getArray());
                })
                .get(0);
    }

    private static @Nullable UUID join(OutboxEntry entry) {
        return entry.join() == null ? null : entry.join().value();
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

    int attach(Connection connection, JoinIdentifier join, List<UUID> ids) throws SQLException {
        return call(connection, "attach").uuid(join.value()).uuids(ids).count();
    }

    boolean exists(Connection connection, UUID id) throws SQLException {
        return find(connection, id).isPresent();
    }

    @Override
    protected List<String> claimedColumns() {
        return CLAIMED_COLUMNS;
    }

    @Override
    protected boolean hasKeys() {
        return true;
    }

    @Override
    protected boolean hasRuns() {
        return true;
    }

    /** What only a message tells that has not just been claimed. */
    private record End(
            WorkStatus status, Optional<Instant> endedAt, Optional<String> endedBy, Optional<Instant> erasedAt) {
        static final End NONE = new End(WorkStatus.IN_PROGRESS, Optional.empty(), Optional.empty(), Optional.empty());

        static End of(ResultSet row) throws SQLException {
            return new End(
                    WorkStatus.of(row.getInt("status")),
                    Instants.optionalInstant(row, "ended_at"),
                    Optional.ofNullable(row.getString("processed_by")),
                    Instants.optionalInstant(row, "erased_at"));
        }
    }

    @Override
    protected Reader<OutboxMessage> reader(ResultSet rows) throws SQLException {
        return reader(rows, row -> End.NONE);
    }

    @Override
    protected Reader<OutboxMessage> storedReader(ResultSet rows) throws SQLException {
        return reader(rows, End::of);
    }

    private static Reader<OutboxMessage> reader(ResultSet rows, Call.RowMapper<End> ends) throws SQLException {
        int topic = rows.findColumn("topic");
        int payload = rows.findColumn("payload");
        int headers = rows.findColumn("headers");
        int correlationId = rows.findColumn("correlation_id");
        int orderingKey = rows.findColumn("ordering_key");
        int createdAt = rows.findColumn("created_at");
        int dueAt = rows.findColumn("due_at");
        int expiresAt = rows.findColumn("expires_at");
        int retryCount = rows.findColumn("retry_count");
        int leaseExpiries = rows.findColumn("lease_expiries");
        int requeues = rows.findColumn("requeues");
        int lastError = rows.findColumn("last_error");
        return (row, id, owner) -> {
            End end = ends.map(row);
            return new OutboxMessage(
                    new OutboxWorkItemIdentifier(id),
                    row.getString(topic),
                    row.getString(payload),
                    Headers.read(row.getString(headers)),
                    Optional.ofNullable(row.getString(correlationId)),
                    Optional.ofNullable(row.getString(orderingKey)),
                    Instants.instant(row, createdAt),
                    Instants.optionalInstant(row, dueAt),
                    Instants.optionalInstant(row, expiresAt),
                    end.status,
                    row.getInt(retryCount),
                    row.getInt(leaseExpiries),
                    row.getInt(requeues),
                    Optional.ofNullable(row.getString(lastError)),
                    end.endedAt,
                    end.endedBy,
                    end.erasedAt);
        };
    }

    @Override
    public List<Claimed<OutboxMessage>> kept(Connection connection, UUID owner, List<UUID> ids) throws SQLException {
        return call(connection, "kept").uuids(ids).uuid(owner).rows(rows -> claimed(rows, owner, false));
    }

    @Override
    public Acked<OutboxMessage> ackAndTake(Connection connection, List<Held> held, Taker taker) throws SQLException {
        List<Claimed<OutboxMessage>> taken = new ArrayList<>();
        List<Answer> answers = new ArrayList<>(1);
        int[] leftKeys = new int[1];
        calling(connection, "ack_next", held)
                .text(nodeName)
                .bool(!retention.isZero())
                .bool(announces(held))
                .uuid(taker.owner())
                .duration(taker.lease())
                .texts(List.copyOf(taker.topics()))
                .number(taker.bytes())
                .rows(rows -> {
                    Call.RowMapper<Claimed<OutboxMessage>> claimed = claimed(rows, taker.owner(), false);
                    return row -> {
                        if (answers.isEmpty()) {
                            answers.add(answer(row));
                            leftKeys[0] = row.getInt("left_keys");
                        }
                        return row.getObject(1) == null || taken.add(claimed.map(row));
                    };
                });
        return new Acked<>(answers.get(0), taken, leftKeys[0] > 0);
    }

    @Override
    protected boolean announces(List<Held> ended) {
        return ended.stream().anyMatch(Held::ordered) && announce.getAsBoolean();
    }

    /** A topic's own choice counts for messages that a node has handled; programs say themselves what they want. */
    @Override
    public Answer fail(Connection connection, List<Ending> endings) throws SQLException {
        return fail(
                connection,
                endings,
                each(endings, ending -> options.failedHeadOf(ending.topic()) == FailedHead.BLOCKS));
    }

    Answer fail(Connection connection, List<Ending> endings, FailedHead head) throws SQLException {
        return fail(connection, endings, each(endings, ending -> head == FailedHead.BLOCKS));
    }

    @Override
    public Map<String, Upkeep> upkeep() {
        return Map.of(
                "forgetting deduplication keys",
                (connection, limit) ->
                        call(connection, "clean_dedup").integer(limit).count(),
                "ending joins whose follow-up was refused",
                joins::endRefused,
                "cleaning joins",
                joins::clean);
    }

    @Override
    public Origin origin(OutboxMessage message) {
        return new Origin(message.correlationId(), message.headers());
    }
}
