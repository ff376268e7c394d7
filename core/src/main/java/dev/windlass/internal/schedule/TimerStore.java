package dev.windlass.internal.schedule;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Columns.optional;
import static dev.windlass.internal.database.Instants.instant;

import dev.windlass.base.QueueKind;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.QueueStore;
import dev.windlass.internal.support.Headers;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The routines of timers, called by name. */
final class TimerStore extends QueueStore<Timer> {
    private final String outbox;

    TimerStore(Database database, String outbox, String nodeName) {
        super(database, queue(outbox), nodeName, Duration.ZERO);
        this.outbox = outbox;
    }

    static String queue(String outbox) {
        return outbox + "_timer";
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
                .json(headers(QueueKind.TIMERS, entry.topic(), entry.headers()))
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
                .texts(optional(entries, entry -> headers(QueueKind.TIMERS, entry.topic(), entry.headers())))
                .bool(notify)
                .value(row ->
                        keys == null ? ids : List.of((UUID[]) row.getArray(1).getArray()));
    }

    private static @Nullable String keyOf(TimerEntry entry) {
        return entry.key() == null ? null : entry.key().value();
    }

    boolean cancel(Connection connection, String topic, String key) throws SQLException {
        return call(connection, "cancel_key").text(topic).text(key).value(row -> row.getBoolean(1));
    }

    Optional<Timer> find(Connection connection, String topic, String key) throws SQLException {
        return stored(call(connection, "find_key").text(topic).text(key));
    }

    /** Whether the timer with this id has become a message that is still known. */
    boolean isMessage(Connection connection, UUID id) throws SQLException {
        return !database.call(connection, outbox + "_find")
                .uuid(id)
                .list(row -> true)
                .isEmpty();
    }

    @Override
    protected Reader<Timer> reader(ResultSet rows) {
        return (row, id, owner) -> new Timer(
                new TimerIdentifier(id),
                row.getString("topic"),
                row.getString("payload"),
                Headers.read(row.getString("headers")),
                Optional.ofNullable(row.getString("unique_key")),
                Optional.ofNullable(row.getString("correlation_id")),
                instant(row, "created_at"),
                instant(row, "due_at"),
                instant(row, "next_attempt_at"),
                WorkStatus.of(row.getInt("status")),
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
            Proof proof,
            Optional<Duration> nextDue,
            Instant serverTime,
            Duration late) {}

    HandedOff handOff(Connection connection, int limit, Position after) throws SQLException {
        return call(connection, "hand_off")
                .integer(limit)
                .instant(after.at())
                .uuid(after.id())
                .rows(rows -> {
                    Call.RowMapper<Proof> proof = database.dialect().proofs(rows);
                    return row -> handedOff(row, after, proof.map(row));
                })
                .get(0);
    }

    private static HandedOff handedOff(ResultSet row, Position after, Proof proof) throws SQLException {
        int count = row.getInt("handed");
        long micros = row.getLong("next_due");
        Optional<Duration> nextDue = row.wasNull() ? Optional.empty() : Optional.of(JobDurations.ofMicros(micros));
        return new HandedOff(
                count,
                count == 0
                        ? List.of()
                        : List.of((String[]) row.getArray("topics").getArray()),
                count == 0 ? after : new Position(instant(row, "last_at"), row.getObject("last_id", UUID.class)),
                proof,
                nextDue,
                instant(row, "server_time"),
                count == 0 ? Duration.ZERO : Duration.between(instant(row, "first_at"), instant(row, "server_time")));
    }
}
