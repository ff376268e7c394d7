package dev.windlass.internal.inbox;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Columns.optional;

import dev.windlass.base.QueueKind;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.queue.QueueStore;
import dev.windlass.internal.support.Headers;
import dev.windlass.join.JoinIdentifier;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The queue's routines, called by name. */
final class InboxStore extends QueueStore<Delivery> {
    private static final List<String> CLAIMED_COLUMNS =
            commonColumnsAnd("headers", "source", "message_id", "created_at", "due_at", "expires_at", "last_error");
    private static final long PATIENCE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long PAUSE_MILLIS = 10;

    private final Duration guardLease;

    /**
     * @param guardLease how long after the server's start owners of the guard come first
     */
    InboxStore(Database database, String table, String nodeName, Duration retention, Duration guardLease) {
        super(database, table, nodeName, retention);
        this.guardLease = guardLease;
    }

    /** Repeated with the same ids, it answers the same. */
    List<Enqueued> enqueue(Connection connection, List<UUID> ids, Collection<InboxEntry> entries, boolean notify)
            throws SQLException {
        return call(connection, "enqueue_all")
                .texts(each(entries, entry -> entry.key().source()))
                .texts(each(entries, entry -> entry.key().messageId()))
                .texts(each(entries, InboxEntry::topic))
                .texts(each(entries, InboxEntry::payload))
                .texts(optional(entries, entry -> headers(QueueKind.INBOX, entry.topic(), entry.headers())))
                .texts(optional(entries, entry -> hex(entry.hash())))
                .instants(optional(entries, InboxEntry::dueTime))
                .durations(optional(entries, InboxEntry::delay))
                .instants(optional(entries, InboxEntry::expiresAt))
                .bool(notify)
                .uuids(ids)
                .list(row -> new Enqueued(row.getBoolean("fresh"), row.getBoolean("differs")));
    }

    private static @Nullable String hex(@Nullable ContentHash hash) {
        return hash == null ? null : hash.hex();
    }

    @Override
    protected List<String> claimedColumns() {
        return CLAIMED_COLUMNS;
    }

    @Override
    protected Reader<Delivery> reader(ResultSet rows) throws SQLException {
        int source = rows.findColumn("source");
        int messageId = rows.findColumn("message_id");
        int topic = rows.findColumn("topic");
        int payload = rows.findColumn("payload");
        int headers = rows.findColumn("headers");
        int firstSeenAt = rows.findColumn("created_at");
        int dueAt = rows.findColumn("due_at");
        int expiresAt = rows.findColumn("expires_at");
        int retryCount = rows.findColumn("retry_count");
        int leaseExpiries = rows.findColumn("lease_expiries");
        int requeues = rows.findColumn("requeues");
        int lastError = rows.findColumn("last_error");
        return (row, id, owner) -> new Delivery(
                new InboxMessage(
                        new InboxWorkItemIdentifier(id),
                        new InboxKey(row.getString(source), row.getString(messageId)),
                        row.getString(topic),
                        row.getString(payload),
                        Headers.read(row.getString(headers)),
                        Instants.instant(row, firstSeenAt),
                        Instants.optionalInstant(row, dueAt),
                        Instants.optionalInstant(row, expiresAt),
                        row.getInt(retryCount),
                        row.getInt(leaseExpiries),
                        row.getInt(requeues),
                        Optional.ofNullable(row.getString(lastError))),
                owner);
    }

    /** The ids of a message in the queue, and of a copy that waits; none if it was never queued. */
    List<UUID> ids(Connection connection, InboxKey key) throws SQLException {
        return call(connection, "ids")
                .texts(List.of(key.source()))
                .texts(List.of(key.messageId()))
                .value(row -> List.of((UUID[]) row.getArray(1).getArray()));
    }

    boolean attach(Connection connection, JoinIdentifier join, InboxKey key) throws SQLException {
        return call(connection, "attach_key")
                        .uuid(join.value())
                        .text(key.source())
                        .text(key.messageId())
                        .count()
                == 1;
    }

    /** By an earlier try, perhaps, whose answer was lost. */
    boolean isCancelled(Connection connection, UUID id) throws SQLException {
        return call(connection, "find")
                .uuid(id)
                .list(row -> row.getInt("status"))
                .contains(WorkStatus.CANCELLED.code());
    }

    /**
     * In the transaction of the work: what was ended before does not count, or the work would be done again. A row that somebody
     * has locked, such as a heartbeat, is asked for again, for a second. Returns how many were ended.
     */
    int ackWithWork(Connection connection, List<Held> held) throws SQLException {
        long start = System.nanoTime();
        int acked = 0;
        for (List<Held> left = held; !left.isEmpty(); ) {
            Answer answer = ack(connection, left, false);
            acked += answer.changed();
            left = left.stream()
                    .filter(each -> answer.locked().contains(each.id()))
                    .toList();
            if (!left.isEmpty()) {
                pause(left.size(), start);
            }
        }
        return acked;
    }

    private static void pause(int locked, long start) {
        boolean goesOn = System.nanoTime() - start < PATIENCE_NANOS;
        if (goesOn) {
            try {
                Thread.sleep(PAUSE_MILLIS);
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        throw new LockedException("expected to end " + locked + " messages together with their work, but another"
                + " transaction keeps them locked; roll back and try again");
    }

    /** Nobody's failure: whoever has the rows lets them go at some time. */
    static final class LockedException extends WindlassException {
        private static final long serialVersionUID = 1L;

        private LockedException(String message) {
            super(message);
        }
    }

    /** With what was enqueued while an attempt of the guard was going on that has failed or was not heard of again. */
    @Override
    public int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException {
        return both(
                () -> super.reap(connection, quiet, limit, watched),
                () -> call(connection, "adopt")
                        .duration(guardLease)
                        .integer(limit)
                        .count());
    }

    @Override
    protected String stuckName(ResultSet row) throws SQLException {
        return row.getString("source") + " " + row.getString("message_id");
    }

    @Override
    public Map<String, Upkeep> upkeep() {
        return Map.of(
                "forgetting what was processed without the queue",
                (connection, limit) -> call(connection, "clean_guards")
                        .duration(retention)
                        .integer(limit)
                        .count());
    }

    private interface Batch {
        int change() throws SQLException;
    }

    /** The one and the other, whether or not the first is refused. It fails if that is all there is. */
    private static int both(Batch one, Batch other) throws SQLException {
        int changed = 0;
        SQLException refused = null;
        for (Batch each : List.of(one, other)) {
            try {
                changed += each.change();
            } catch (SQLException e) {
                refused = refused == null ? e : refused;
            }
        }
        if (refused != null && changed == 0) {
            throw refused;
        }
        return changed;
    }

    @Override
    public Origin origin(Delivery message) {
        return new Origin(Optional.empty(), message.message().headers());
    }
}
