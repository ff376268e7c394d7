package dev.windlass.schedule;

import static dev.windlass.runtime.Columns.each;
import static dev.windlass.runtime.Columns.optional;
import static dev.windlass.runtime.Instants.instant;

import dev.windlass.runtime.Call;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Headers;
import dev.windlass.runtime.Position;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The routines of timers, called by name. */
final class TimerStore {
    private final Database database;
    private final String outbox;

    TimerStore(Database database, String outbox) {
        this.database = database;
        this.outbox = outbox;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, outbox + "_timer_" + routine);
    }

    UUID schedule(Connection connection, UUID id, TimerEntry entry, boolean notify) throws SQLException {
        return call(connection, "schedule")
                .text(entry.topic())
                .text(entry.payload())
                .instant(entry.dueTime())
                .duration(entry.delay())
                .text(keyOf(entry))
                .bool(entry.key() == null || entry.key().replaces())
                .text(entry.correlationId())
                .json(Headers.write(entry.headers()))
                .uuid(id)
                .bool(notify)
                .value(row -> row.getObject(1, UUID.class));
    }

    List<UUID> scheduleAll(Connection connection, List<UUID> ids, List<TimerEntry> entries, boolean notify)
            throws SQLException {
        List<@Nullable String> keys = optional(entries, TimerStore::keyOf);
        return call(connection, "schedule_all")
                .uuids(ids)
                .texts(each(entries, TimerEntry::topic))
                .texts(each(entries, TimerEntry::payload))
                .instants(optional(entries, TimerEntry::dueTime))
                .durations(optional(entries, TimerEntry::delay))
                .texts(keys)
                .bools(optional(
                        entries,
                        entry -> entry.key() == null ? null : entry.key().replaces()))
                .texts(optional(entries, TimerEntry::correlationId))
                .texts(optional(entries, entry -> Headers.write(entry.headers())))
                .bool(notify)
                .value(row ->
                        keys == null ? ids : List.of((UUID[]) row.getArray(1).getArray()));
    }

    private static @Nullable String keyOf(TimerEntry entry) {
        return entry.key() == null ? null : entry.key().value();
    }

    boolean cancel(Connection connection, UUID id) throws SQLException {
        return call(connection, "cancel").uuid(id).value(row -> row.getBoolean(1));
    }

    boolean cancel(Connection connection, String topic, String key) throws SQLException {
        return call(connection, "cancel_key").text(topic).text(key).value(row -> row.getBoolean(1));
    }

    /**
     * @param delay from now; either this or the due time is given
     */
    boolean reschedule(
            Connection connection, UUID id, @Nullable Instant dueTime, @Nullable Duration delay, boolean notify)
            throws SQLException {
        return call(connection, "reschedule")
                .uuid(id)
                .instant(dueTime)
                .duration(delay)
                .bool(notify)
                .value(row -> row.getBoolean(1));
    }

    Optional<Timer> find(Connection connection, UUID id) throws SQLException {
        return call(connection, "find").uuid(id).list(TimerStore::whole).stream()
                .findFirst();
    }

    Optional<Timer> find(Connection connection, String topic, String key) throws SQLException {
        return call(connection, "find_key").text(topic).text(key).list(TimerStore::whole).stream()
                .findFirst();
    }

    /** Whether the timer with this id has become a message that is still known. */
    boolean isMessage(Connection connection, UUID id) throws SQLException {
        return !database.call(connection, outbox + "_find")
                .uuid(id)
                .list(row -> true)
                .isEmpty();
    }

    List<Timer> list(Connection connection, @Nullable String topic, int limit, @Nullable Timer after)
            throws SQLException {
        return call(connection, "list")
                .text(topic)
                .integer(limit)
                .instant(after == null ? null : after.dueTime())
                .uuid(after == null ? null : after.id().value())
                .list(row -> timer(row, "", Map.of(), row.getBoolean("claimed"), row.getBoolean("failed")));
    }

    static Timer whole(ResultSet row) throws SQLException {
        return timer(
                row,
                row.getString("payload"),
                Headers.read(row.getString("headers")),
                row.getObject("locked_until") != null,
                row.getObject("ended_at") != null);
    }

    private static Timer timer(
            ResultSet row, String payload, Map<String, String> headers, boolean claimed, boolean failed)
            throws SQLException {
        return new Timer(
                new TimerIdentifier(row.getObject("id", UUID.class)),
                row.getString("topic"),
                payload,
                headers,
                Optional.ofNullable(row.getString("unique_key")),
                Optional.ofNullable(row.getString("correlation_id")),
                instant(row, "created_at"),
                instant(row, "due_at"),
                instant(row, "next_attempt_at"),
                claimed,
                failed,
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                Optional.ofNullable(row.getString("last_error")));
    }

    /**
     * What one hand-off did.
     *
     * @param count how many timers became messages
     * @param last where the last of them was; the bound itself if there was none
     * @param nextDue until the next one is due; negative when one is due already
     */
    record HandedOff(
            int count,
            List<String> topics,
            Position last,
            long claimNumber,
            long snapshotXmin,
            Optional<Duration> nextDue,
            Instant serverTime) {}

    HandedOff handOff(Connection connection, int limit, Position after) throws SQLException {
        return call(connection, "hand_off")
                .integer(limit)
                .instant(after.at())
                .uuid(after.id())
                .list(row -> handedOff(row, after))
                .get(0);
    }

    private static HandedOff handedOff(ResultSet row, Position after) throws SQLException {
        int count = row.getInt("handed");
        long micros = row.getLong("next_due");
        Optional<Duration> nextDue = row.wasNull() ? Optional.empty() : Optional.of(Lengths.ofMicros(micros));
        return new HandedOff(
                count,
                count == 0
                        ? List.of()
                        : List.of((String[]) row.getArray("topics").getArray()),
                count == 0 ? after : new Position(instant(row, "last_at"), row.getObject("last_id", UUID.class)),
                row.getLong("claim_xid"),
                row.getLong("snapshot_xmin"),
                nextDue,
                instant(row, "server_time"));
    }
}
