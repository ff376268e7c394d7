package dev.windlass.runtime;

import static dev.windlass.runtime.Columns.each;

import dev.windlass.operator.FailedAttempt;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The verbs that every queue has alike whose messages are claimed by topic. A feature adds how a message is read from a row, and
 * what only its own queue can do.
 */
public abstract class QueueStore<M> extends OwnedStore implements WorkStore<M> {
    protected QueueStore(Database database, String queue, String nodeName, Duration retention) {
        super(database, queue, nodeName, retention);
    }

    /** Reads messages of the rows of one result; the columns are looked up once. */
    protected interface Reader<M> {
        M read(ResultSet row, UUID id, UUID owner) throws SQLException;
    }

    protected abstract Reader<M> reader(ResultSet rows) throws SQLException;

    /** Whether messages have ordering keys. */
    protected boolean hasKeys() {
        return false;
    }

    @Override
    public List<Claimed<M>> claim(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return claim(connection, owner, lease, limit, demands)
                .number(bytes)
                .claimed(rows -> claimed(rows, owner, true));
    }

    @Override
    public List<Claimed<M>> claimEach(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return claim(connection, owner, lease, limit, demands)
                .number(bytes)
                .bool(true)
                .claimed(rows -> claimed(rows, owner, true));
    }

    private Call claim(Connection connection, UUID owner, Duration lease, int limit, List<Demand> demands) {
        return call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .texts(each(demands, Demand::topic))
                .integers(each(demands, Demand::places))
                .instants(each(demands, demand -> demand.after().at()))
                .uuids(each(demands, demand -> demand.after().id()));
    }

    /**
     * Of whatever topic there is, for those who work by themselves.
     *
     * @param each one by one: those that the database refuses are left
     */
    public final List<OwnWork.Taken<M>> claimAny(
            Connection connection, UUID owner, Duration lease, int limit, boolean each) throws SQLException {
        return call(connection, "claim")
                .uuid(owner)
                .duration(lease)
                .integer(limit)
                .texts(null)
                .integers(null)
                .instants(null)
                .uuids(null)
                .number(null)
                .bool(each)
                .rows(rows -> {
                    Reader<M> reader = reader(rows);
                    return row -> taken(row, found -> reader.read(found, found.getObject("id", UUID.class), owner));
                });
    }

    /**
     * What a claim took, row by row; one that cannot be read is set aside alone.
     *
     * @param proved whether the rows bring what proves how far the claim has come
     */
    protected final Call.RowMapper<Claimed<M>> claimed(ResultSet rows, UUID owner, boolean proved) throws SQLException {
        Reader<M> reader = reader(rows);
        int id = rows.findColumn("id");
        int topic = rows.findColumn("topic");
        int payload = rows.findColumn("payload");
        int retries = rows.findColumn("retry_count");
        int expiries = rows.findColumn("lease_expiries");
        int crashes = rows.findColumn("crashes");
        int requeues = rows.findColumn("requeues");
        int nextAttempt = rows.findColumn("next_attempt_at");
        int key = hasKeys() ? rows.findColumn("ordering_key") : 0;
        int number = proved ? rows.findColumn("claim_number") : 0;
        int xmin = proved ? rows.findColumn("snapshot_xmin") : 0;
        return row -> {
            UUID value = row.getObject(id, UUID.class);
            M message = null;
            String problem = null;
            int size = 0;
            try {
                message = reader.read(row, value, owner);
                size = Objects.requireNonNull(row.getString(payload)).length();
            } catch (SQLException | RuntimeException e) {
                problem = problem(value, e);
            }
            return new Claimed<>(
                    value,
                    owner,
                    row.getString(topic),
                    row.getInt(retries),
                    row.getInt(expiries),
                    row.getInt(crashes),
                    row.getInt(requeues),
                    key > 0 && row.getString(key) != null,
                    size,
                    new Position(Instants.instant(row, nextAttempt), value),
                    number == 0 ? 0 : row.getLong(number),
                    xmin == 0 ? 0 : row.getLong(xmin),
                    message,
                    problem);
        };
    }

    @Override
    public int expire(Connection connection, int limit) throws SQLException {
        return call(connection, "expire").integer(limit).count();
    }

    @Override
    public int clean(Connection connection, int limit) throws SQLException {
        return call(connection, "clean").duration(retention).integer(limit).count();
    }

    @Override
    public Optional<Duration> nextDue(Connection connection, List<Demand> demands) throws SQLException {
        return call(connection, "next_due")
                .texts(each(demands, Demand::topic))
                .instants(each(demands, demand -> demand.after().at()))
                .uuids(each(demands, demand -> demand.after().id()))
                .value(row -> Optional.ofNullable(row.getObject(1, Long.class)).map(Duration::ofMillis));
    }

    @Override
    public Set<String> readyTopics(Connection connection) throws SQLException {
        return new HashSet<>(call(connection, "ready_topics").list(row -> row.getString(1)));
    }

    @Override
    public Set<String> pausedTopics(Connection connection) throws SQLException {
        return new HashSet<>(call(connection, "paused_topics").list(row -> row.getString("topic")));
    }

    public final List<FailedAttempt> failures(Connection connection, UUID id) throws SQLException {
        return call(connection, "failures")
                .uuid(id)
                .list(row -> new FailedAttempt(
                        Instants.instant(row, "failed_at"),
                        row.getInt("attempt"),
                        Optional.ofNullable(row.getString("node")),
                        Optional.ofNullable(row.getString("error"))));
    }

    public final boolean cancel(Connection connection, UUID id) throws SQLException {
        return call(connection, "cancel").uuids(List.of(id)).count() == 1;
    }

    public final boolean reschedule(Connection connection, UUID id, Instant dueTime) throws SQLException {
        return call(connection, "reschedule")
                        .uuids(List.of(id))
                        .instant(dueTime)
                        .count()
                == 1;
    }
}
