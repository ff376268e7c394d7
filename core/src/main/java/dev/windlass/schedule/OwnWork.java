package dev.windlass.schedule;

import dev.windlass.OwnerToken;
import dev.windlass.runtime.Call;
import dev.windlass.runtime.Chore;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.ErrorText;
import dev.windlass.runtime.Require;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Timers, or runs of jobs, that programs handle themselves: claimed for a lease, and changed by their owner only.
 *
 * @param <T> what is claimed
 * @param <I> what names it
 */
final class OwnWork<T, I> {
    private static final Logger log = LoggerFactory.getLogger(OwnWork.class);

    private final Database database;
    private final String routines;
    private final String kind;
    private final Call.RowMapper<T> row;
    private final Function<I, UUID> value;
    private final Duration lease;

    /**
     * @param routines what the names of the routines begin with
     * @param kind what it is, in the singular
     * @param lease how long after a start of the database server nothing is reaped
     */
    OwnWork(
            Database database,
            String routines,
            String kind,
            Call.RowMapper<T> row,
            Function<I, UUID> value,
            Duration lease) {
        this.database = database;
        this.routines = routines;
        this.kind = kind;
        this.row = row;
        this.value = value;
        this.lease = lease;
    }

    private Call call(Connection connection, String verb) {
        return database.call(connection, routines + verb);
    }

    /** Not repeated: what a lost answer spoke of would stay claimed, and the caller would not know. */
    List<T> claim(OwnerToken owner, Duration lease, int batchSize) {
        Require.present("owner token", owner);
        Require.positive("lease", lease);
        Require.positive("batch size", batchSize);
        try {
            return database.once(connection -> call(connection, "claim")
                    .uuid(owner.value())
                    .duration(lease)
                    .integer(batchSize)
                    .list(row));
        } catch (SQLException e) {
            throw database.failure("claim " + kind + "s", e);
        }
    }

    int ack(OwnerToken owner, Collection<I> ids) {
        return complete("ack", owner, ids, call -> call);
    }

    int abandon(OwnerToken owner, Collection<I> ids) {
        return complete("abandon", owner, ids, call -> call.duration(null).text(null));
    }

    int abandon(OwnerToken owner, Collection<I> ids, Duration delay, String error) {
        Require.notNegative("delay", delay);
        String text = bounded(error);
        return complete("abandon", owner, ids, call -> call.duration(delay).text(text));
    }

    int fail(OwnerToken owner, Collection<I> ids, String error) {
        String text = bounded(error);
        return complete("fail", owner, ids, call -> call.text(text));
    }

    private static String bounded(@Nullable String error) {
        return ErrorText.bounded(Require.storable("error text", error));
    }

    private int complete(String verb, OwnerToken owner, Collection<I> ids, Function<Call, Call> arguments) {
        Require.present("owner token", owner);
        List<UUID> held =
                Require.elements(kind + " identifiers", ids).stream().map(value).toList();
        return held.isEmpty()
                ? 0
                : database.retrying(
                        verb + " " + held.size() + " " + kind + "s",
                        connection -> arguments
                                .apply(call(connection, verb).uuids(held).uuid(owner.value()))
                                .count());
    }

    /** Also for nodes, which do this by themselves. */
    int reapExpired() {
        int reaped = 0;
        int changed;
        do {
            changed = database.retrying("reap " + kind + "s", this::reap);
            reaped += changed;
        } while (changed == Chore.BATCH);
        if (reaped > 0) {
            reaped(reaped);
        }
        return reaped;
    }

    private int reap(Connection connection) throws SQLException {
        return call(connection, "reap").duration(lease).integer(Chore.BATCH).count();
    }

    /** One batch, with the patience of this database. */
    int reap() throws SQLException {
        return database.once(this::reap);
    }

    void reaped(int count) {
        log.info("[{}] took back {} {}s whose lease had run out", database.name(), count, kind);
    }

    /** The same on a database of other patience. */
    OwnWork<T, I> on(Database other) {
        return new OwnWork<>(other, routines, kind, row, value, lease);
    }
}
