package dev.windlass.inbox;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HexFormat;
import java.util.Optional;

/** Makes values of the table's rows. */
final class Rows {

    private Rows() {}

    static SeenMessage seen(ResultSet row) throws SQLException {
        return new SeenMessage(
                new InboxKey(row.getString("source"), row.getString("message_id")),
                InboxStatus.of(row.getInt("status")),
                Optional.ofNullable(row.getString("topic")),
                Optional.ofNullable(row.getString("payload")),
                Optional.ofNullable(row.getBytes("hash"))
                        .map(bytes -> new ContentHash(HexFormat.of().formatHex(bytes))),
                instant(row, "first_seen_at").orElseThrow(),
                instant(row, "last_seen_at").orElseThrow(),
                instant(row, "begun_at"),
                instant(row, "locked_until"),
                instant(row, "ended_at"),
                row.getInt("retry_count"),
                row.getInt("lease_expiries"),
                row.getInt("revivals"),
                Optional.ofNullable(row.getString("processed_by")),
                Optional.ofNullable(row.getString("last_error")));
    }

    static Optional<Instant> instant(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, OffsetDateTime.class)).map(OffsetDateTime::toInstant);
    }
}
