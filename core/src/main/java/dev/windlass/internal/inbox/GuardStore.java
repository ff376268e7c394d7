package dev.windlass.internal.inbox;

import static dev.windlass.internal.database.Columns.each;
import static dev.windlass.internal.database.Instants.instant;
import static dev.windlass.internal.database.Instants.optionalInstant;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The guard's routines, called by name. */
final class GuardStore {
    private final Database database;
    private final String table;
    private final String nodeName;

    GuardStore(Database database, String table, String nodeName) {
        this.database = database;
        this.table = table;
        this.nodeName = nodeName;
    }

    private Call call(Connection connection, String routine, InboxKey key) {
        return database.call(connection, table + "_" + routine)
                .text(key.source())
                .text(key.messageId());
    }

    private Call call(Connection connection, String routine, InboxAttempt attempt) {
        return call(connection, routine, attempt.key()).uuid(attempt.owner().value());
    }

    Begin begin(
            Connection connection,
            InboxKey key,
            OwnerToken owner,
            Duration lease,
            int maxAttempts,
            @Nullable ContentHash hash,
            boolean arrival)
            throws SQLException {
        return call(connection, "begin", key)
                .uuid(owner.value())
                .duration(lease)
                .integer(maxAttempts)
                .text(hash == null ? null : hash.hex())
                .bool(arrival)
                .list(row -> begin(row, key, owner))
                .get(0);
    }

    private static Begin begin(ResultSet row, InboxKey key, OwnerToken owner) throws SQLException {
        boolean differs = row.getBoolean("differs");
        return switch (row.getInt("outcome")) {
            case 0 -> new Begin.Proceed(new InboxAttempt(key, owner, row.getInt("attempt")), differs);
            case 1 -> new Begin.InProgress(Duration.ofMillis(row.getLong("remaining")), differs);
            case 2 -> new Begin.Done(differs);
            default -> new Begin.Dead(differs);
        };
    }

    /** What came of a renewal. */
    enum Renewal {
        RENEWED,
        /** Somebody has the row locked, and nothing is known: ask again. */
        LOCKED,
        LOST
    }

    /** Answers in the order of the attempts. */
    List<Renewal> renew(Connection connection, List<InboxAttempt> attempts, Duration lease) throws SQLException {
        return database.call(connection, table + "_renew")
                .texts(each(attempts, attempt -> attempt.key().source()))
                .texts(each(attempts, attempt -> attempt.key().messageId()))
                .uuids(each(attempts, attempt -> attempt.owner().value()))
                .duration(lease)
                .list(GuardStore::renewal);
    }

    private static Renewal renewal(ResultSet row) throws SQLException {
        boolean renewed = row.getBoolean(1);
        if (row.wasNull()) {
            return Renewal.LOCKED;
        }
        return renewed ? Renewal.RENEWED : Renewal.LOST;
    }

    /**
     * @param again whether it counts if this attempt has been marked before
     */
    boolean markDone(Connection connection, InboxAttempt attempt, boolean again) throws SQLException {
        return call(connection, "mark_done", attempt).text(nodeName).bool(again).value(row -> row.getBoolean(1));
    }

    boolean markDead(Connection connection, InboxAttempt attempt, String reason) throws SQLException {
        return call(connection, "mark_failed", attempt)
                .text(reason)
                .text(nodeName)
                .value(row -> row.getBoolean(1));
    }

    /** What has become of the message; nothing if the attempt was lost. */
    Optional<WorkStatus> abandon(
            Connection connection, InboxAttempt attempt, String error, Duration delay, int maxAttempts)
            throws SQLException {
        return call(connection, "mark_abandoned", attempt)
                .text(error)
                .duration(delay)
                .integer(maxAttempts)
                .text(nodeName)
                .value(row ->
                        Optional.ofNullable(row.getObject(1, Integer.class)).map(WorkStatus::of));
    }

    Optional<SeenMessage> find(Connection connection, InboxKey key) throws SQLException {
        return call(connection, "find_key", key).list(row -> seen(row, key)).stream()
                .findFirst();
    }

    private static SeenMessage seen(ResultSet row, InboxKey key) throws SQLException {
        return new SeenMessage(
                key,
                WorkStatus.of(row.getInt("status")),
                Optional.ofNullable(row.getString("topic")),
                Optional.ofNullable(row.getString("payload")),
                Optional.ofNullable(row.getBytes("hash"))
                        .map(bytes -> new ContentHash(HexFormat.of().formatHex(bytes))),
                instant(row, "first_seen_at"),
                instant(row, "last_seen_at"),
                optionalInstant(row, "claimed_at"),
                optionalInstant(row, "locked_until"),
                optionalInstant(row, "ended_at"),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("requeues"),
                Optional.ofNullable(row.getString("processed_by")),
                Optional.ofNullable(row.getString("last_error")));
    }
}
