package dev.windlass.runtime;

import static dev.windlass.runtime.Columns.each;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A store whose verbs are routines named after its table; here are those that every table of work has alike. */
public abstract class RoutineStore<M> implements WorkStore<M> {
    protected final String nodeName;
    protected final Duration retention;
    private final Database database;
    private final String table;

    protected RoutineStore(Database database, String table, String nodeName, Duration retention) {
        this.database = database;
        this.table = table;
        this.nodeName = nodeName;
        this.retention = retention;
    }

    protected final Call call(Connection connection, String routine) {
        return database.call(connection, table + "_" + routine);
    }

    /** The call of a claim, up to what it reads from the rows. */
    protected final Call claiming(Connection connection, UUID owner, Duration lease, int limit, List<Demand> demands) {
        return claimingAny(connection, owner, lease, limit)
                .texts(each(demands, Demand::topic))
                .integers(each(demands, Demand::places))
                .instants(each(demands, demand -> demand.after().at()))
                .uuids(each(demands, demand -> demand.after().id()));
    }

    protected final Call claimingAny(Connection connection, UUID owner, Duration lease, int limit) {
        return call(connection, "claim").uuid(owner).duration(lease).integer(limit);
    }

    @Override
    public int giveBack(Connection connection, UUID owner, @Nullable String problem) throws SQLException {
        return 0;
    }

    @Override
    public Answer start(Connection connection, List<Held> held) throws SQLException {
        return Answer.all(held.size());
    }

    @Override
    public Answer release(Connection connection, List<Held> held) throws SQLException {
        return Answer.all(call(connection, "release")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .count());
    }

    @Override
    public Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
        Set<UUID> lost = new HashSet<>(each(held, Held::id));
        List<UUID> renewed = call(connection, "heartbeat")
                .uuids(each(held, Held::id))
                .uuids(each(held, Held::owner))
                .duration(lease)
                .list(row -> row.getObject(1, UUID.class));
        renewed.forEach(lost::remove);
        return new Answer(renewed.size(), Set.of(), lost);
    }

    @Override
    public int reap(Connection connection, Duration quiet, int limit) throws SQLException {
        return call(connection, "reap").duration(quiet).integer(limit).count();
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
}
