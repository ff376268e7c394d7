package dev.windlass.inbox;

import static dev.windlass.runtime.Instants.instant;
import static dev.windlass.runtime.Instants.optionalInstant;

import java.sql.ResultSet;
import java.sql.SQLException;
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
