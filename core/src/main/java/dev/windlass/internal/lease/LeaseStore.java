package dev.windlass.internal.lease;

import static dev.windlass.internal.database.Instants.instant;

import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.lease.LeaseState;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The routines of leases, called by name. */
final class LeaseStore {
    private final Database database;
    private final String table;

    LeaseStore(Database database, String table) {
        this.database = database;
        this.table = table;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, table + "_" + routine);
    }

    /**
     * @param wait how long the caller is going to wait if it is refused; null if it is not
     */
    AcquireAnswer acquire(Connection connection, LeaseClaim claim, @Nullable Duration wait) throws SQLException {
        Call call = claim.permits() == 0
                ? call(connection, "acquire").text(claim.name())
                : call(connection, "acquire_permit").text(claim.name()).integer(claim.permits());
        return call.uuid(claim.holder())
                .text(claim.owner())
                .duration(claim.duration())
                .duration(wait)
                .list(LeaseStore::answer)
                .get(0);
    }

    private static AcquireAnswer answer(ResultSet row) throws SQLException {
        return new AcquireAnswer(
                row.getBoolean("acquired"),
                row.getString("owner"),
                row.getLong("fencing_token"),
                instant(row, "expires_at"),
                instant(row, "server_time"));
    }

    /** Whether a lease was renewed, and until when it holds if it was. */
    record Renewal(boolean renewed, Instant expiresAt) {}

    /** What became of each holder; those that are not in the answer have to ask again. */
    Map<UUID, Renewal> renew(Connection connection, List<LeaseClaim> claims) throws SQLException {
        return call(connection, "renew")
                .texts(new ArrayList<>(claims.stream().map(LeaseClaim::name).toList()))
                .uuids(claims.stream().map(LeaseClaim::holder).toList())
                .durations(new ArrayList<>(
                        claims.stream().map(LeaseClaim::duration).toList()))
                .list(row -> Map.entry(
                        row.getObject("holder", UUID.class),
                        new Renewal(
                                row.getBoolean("renewed"),
                                instant(row, row.getBoolean("renewed") ? "expires_at" : "server_time"))))
                .stream()
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** What became of a lease that its holder gives back. */
    enum Release {
        DONE,
        NOT_HELD,
        /** Somebody has its row locked; it has to be asked again. */
        NOT_NOW
    }

    Release release(Connection connection, LeaseClaim claim) throws SQLException {
        return call(connection, "release")
                .text(claim.name())
                .uuid(claim.holder())
                .value(LeaseStore::release);
    }

    private static Release release(ResultSet row) throws SQLException {
        boolean held = row.getBoolean(1);
        return row.wasNull() ? Release.NOT_NOW : held ? Release.DONE : Release.NOT_HELD;
    }

    Optional<LeaseState> find(Connection connection, String name) throws SQLException {
        return call(connection, "find").text(name).list(LeaseStore::state).stream()
                .findFirst();
    }

    List<LeaseState> list(Connection connection) throws SQLException {
        return call(connection, "list").list(LeaseStore::state);
    }

    private static LeaseState state(ResultSet row) throws SQLException {
        return new LeaseState(
                row.getString("name"),
                row.getInt("slot"),
                row.getString("owner"),
                row.getLong("fencing_token"),
                instant(row, "acquired_at"),
                instant(row, "expires_at"),
                row.getBoolean("held"));
    }

    int clean(Connection connection, Duration retention, int limit) throws SQLException {
        return call(connection, "clean").duration(retention).integer(limit).count();
    }
}
