package dev.windlass.internal.work;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Columns.optional;
import static dev.windlass.internal.database.Instants.optionalInstant;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.QueueKind;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.queue.Note;
import dev.windlass.internal.queue.QueueStore;
import dev.windlass.internal.queue.Ranking;
import dev.windlass.internal.support.Headers;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The routines of the work queue, called by name. */
final class WorkItemStore extends QueueStore<WorkItem> {
    private static final List<Integer> PRIORITIES = IntStream.iterate(
                    9, priority -> priority >= 0, priority -> priority - 1)
            .boxed()
            .toList();

    private final Ranking ranking;

    WorkItemStore(Database database, WorkOptions options, String nodeName) {
        super(database, options.tableName(), nodeName, options.queue().retention());
        ranking = new Ranking(PRIORITIES, options.ageing().isZero() ? null : options.ageing());
    }

    @Override
    public Ranking ranking() {
        return ranking;
    }

    /** Returns the ids that stand, in the order of the entries. */
    List<UUID> enqueueAll(Connection connection, List<UUID> ids, List<WorkEntry> entries, boolean notify)
            throws SQLException {
        return call(connection, "enqueue_all")
                .uuids(ids)
                .texts(each(entries, WorkEntry::queue))
                .texts(each(entries, WorkEntry::type))
                .texts(each(entries, WorkEntry::payload))
                .integers(each(entries, WorkEntry::priority))
                .instants(optional(entries, WorkEntry::runAt))
                .durations(optional(entries, WorkEntry::delay))
                .texts(optional(entries, WorkEntry::key))
                .texts(optional(
                        entries,
                        entry -> entry.unique() == null ? null : entry.unique().key()))
                .bools(each(
                        entries,
                        entry -> entry.unique() != null && entry.unique().replaces()))
                .texts(optional(entries, WorkEntry::correlationId))
                .texts(optional(entries, entry -> headers(QueueKind.WORK, entry.queue(), entry.headers())))
                .instants(optional(entries, WorkEntry::expiresAt))
                .bool(notify)
                .uuids(optional(
                        entries,
                        entry -> entry.join() == null ? null : entry.join().value()))
                .value(row -> List.of((UUID[]) row.getArray(1).getArray()));
    }

    @Override
    protected Reader<WorkItem> reader(ResultSet rows) throws SQLException {
        return (row, id, owner) -> new WorkItem(
                new WorkIdentifier(id),
                row.getString("topic"),
                row.getString("type"),
                row.getString("payload"),
                Headers.read(row.getString("headers")),
                text(row, "correlation_id"),
                text(row, "turn_key"),
                text(row, "unique_key"),
                row.getInt("priority"),
                WorkStatus.of(row.getInt("status")),
                Instants.instant(row, "created_at"),
                Instants.instant(row, "next_attempt_at"),
                optionalInstant(row, "expires_at"),
                Optional.ofNullable(row.getObject("owner_token", UUID.class)).map(OwnerToken::new),
                optionalInstant(row, "locked_until"),
                optionalInstant(row, "claimed_at"),
                optionalInstant(row, "ended_at"),
                optionalInstant(row, "cancel_asked_at"),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                progress(row),
                text(row, "progress_text"),
                text(row, "result"),
                text(row, "last_error"));
    }

    private static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }

    static OptionalInt progress(ResultSet row) throws SQLException {
        int progress = row.getInt("progress");
        return row.wasNull() ? OptionalInt.empty() : OptionalInt.of(progress);
    }

    /** With how far they have come, where their handlers have told. */
    @Override
    public Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
        return calling(connection, "heartbeat_with_progress", held)
                .duration(lease)
                .integers(notes(held, Note::progress))
                .texts(notes(held, Note::text))
                .list(row ->
                        new Answer(row.getInt("changed"), ids(row, "locked"), ids(row, "lost"), ids(row, "cancelled")))
                .get(0);
    }

    /** With what they came to, where their handlers have told. */
    @Override
    public Answer ack(Connection connection, List<Held> held) throws SQLException {
        return held.stream().allMatch(each -> each.note() == null)
                ? super.ack(connection, held)
                : complete(connection, held);
    }

    private Answer complete(Connection connection, List<Held> held) throws SQLException {
        return calling(connection, "complete", held)
                .texts(notes(held, Note::result))
                .integers(notes(held, Note::progress))
                .texts(notes(held, Note::text))
                .text(nodeName)
                .bool(!retention.isZero())
                .list(QueueStore::answer)
                .get(0);
    }

    private static <T> @Nullable List<@Nullable T> notes(List<Held> held, Function<Note, @Nullable T> part) {
        return optional(held, each -> each.note() == null ? null : part.apply(each.note()));
    }

    private static Set<UUID> ids(ResultSet row, String column) throws SQLException {
        return Set.of((UUID[]) row.getArray(column).getArray());
    }

    Optional<WorkItem> find(Connection connection, String queueName, String uniqueKey) throws SQLException {
        Call call = call(connection, "find_key").text(queueName).text(uniqueKey);
        return stored(call);
    }

    /** Cancels what is queued, and asks for the end of what is running. Returns whether it is one of both. */
    boolean stop(Connection connection, UUID id) throws SQLException {
        return call(connection, "stop").uuids(List.of(id)).count() == 1;
    }

    int attach(Connection connection, JoinIdentifier join, List<UUID> ids) throws SQLException {
        return call(connection, "attach").uuid(join.value()).uuids(ids).count();
    }

    @Override
    public Origin origin(WorkItem message) {
        return new Origin(message.correlationId(), message.headers());
    }
}
