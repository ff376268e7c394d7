package dev.windlass.schedule;

import dev.windlass.FailedHead;
import dev.windlass.OwnerToken;
import dev.windlass.runtime.Call;
import dev.windlass.runtime.Chore;
import dev.windlass.runtime.Completion;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.ErrorText;
import dev.windlass.runtime.OwnedStore;
import dev.windlass.runtime.Require;
import dev.windlass.runtime.WorkStore.Ending;
import dev.windlass.runtime.WorkStore.Failure;
import dev.windlass.runtime.WorkStore.Held;
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

    private final Store store;
    private final String kind;
    private final Call.RowMapper<T> row;
    private final Function<I, UUID> value;
    private final Duration lease;

    /** The verbs, and a claim that knows no topics. */
    static final class Store extends OwnedStore {
        Store(Database database, String queue, String nodeName, Duration retention) {
            super(database, queue, nodeName, retention);
        }

        private <T> List<T> claim(Connection connection, UUID owner, Duration lease, int limit, Call.RowMapper<T> row)
                throws SQLException {
            return call(connection, "claim")
                    .uuid(owner)
                    .duration(lease)
                    .integer(limit)
                    .list(row);
        }

        private Database database() {
            return database;
        }

        private Store on(Database other) {
            return new Store(other, queue, nodeName, retention);
        }
    }

    /**
     * @param kind what it is, in the singular
     * @param lease how long after a start of the database server nothing is reaped
     */
    OwnWork(Store store, String kind, Call.RowMapper<T> row, Function<I, UUID> value, Duration lease) {
        this.store = store;
        this.kind = kind;
        this.row = row;
        this.value = value;
        this.lease = lease;
    }

    /** Not repeated: what a lost answer spoke of would stay claimed, and the caller would not know. */
    List<T> claim(OwnerToken owner, Duration lease, int batchSize) {
        Require.present("owner token", owner);
        Require.positive("lease", lease);
        Require.positive("batch size", batchSize);
        try {
            return store.database().once(connection -> store.claim(connection, owner.value(), lease, batchSize, row));
        } catch (SQLException e) {
            throw store.database().failure("claim " + kind + "s", e);
        }
    }

    int ack(OwnerToken owner, Collection<I> ids) {
        return complete("ack", held(owner, ids), Held::id, store::ack);
    }

    int abandon(OwnerToken owner, Collection<I> ids) {
        return abandon(held(owner, ids), null, null);
    }

    int abandon(OwnerToken owner, Collection<I> ids, Duration delay, String error) {
        Require.notNegative("delay", delay);
        return abandon(held(owner, ids), delay, bounded(error));
    }

    private int abandon(List<Held> all, @Nullable Duration delay, @Nullable String error) {
        List<Failure> failures =
                all.stream().map(held -> new Failure(held, delay, error)).toList();
        return complete("abandon", failures, Failure::id, store::abandon);
    }

    int fail(OwnerToken owner, Collection<I> ids, String error) {
        String text = bounded(error);
        return complete(
                "fail",
                held(owner, ids).stream()
                        .map(held -> new Ending(held, text, FailedHead.IS_SKIPPED))
                        .toList(),
                Ending::id,
                store::fail);
    }

    int heartbeat(OwnerToken owner, Collection<I> ids, Duration lease) {
        Require.positive("lease", lease);
        return complete(
                "renew", held(owner, ids), Held::id, (connection, held) -> store.heartbeat(connection, held, lease));
    }

    private static String bounded(@Nullable String error) {
        return ErrorText.bounded(Require.storable("error text", error));
    }

    private List<Held> held(OwnerToken owner, Collection<I> ids) {
        Require.present("owner token", owner);
        return Require.elements(kind + " identifiers", ids).stream()
                .distinct()
                .map(id -> new Held(value.apply(id), owner.value(), false))
                .toList();
    }

    private <E> int complete(String verb, List<E> items, Function<E, UUID> id, Completion.Verb<E> run) {
        return Completion.of(store.database(), verb, items, id, run);
    }

    int reapExpired() {
        int reaped = 0;
        int changed;
        do {
            changed = store.database().retrying("reap " + kind + "s", connection -> reap(connection, false));
            reaped += changed;
        } while (changed == Chore.BATCH);
        if (reaped > 0) {
            reaped(reaped);
        }
        return reaped;
    }

    private int reap(Connection connection, boolean watched) throws SQLException {
        return store.reap(connection, lease, Chore.BATCH, watched);
    }

    /** One batch, for nodes, which do this all the time by themselves. */
    int reap() throws SQLException {
        return store.database().once(connection -> reap(connection, true));
    }

    void reaped(int count) {
        log.info(
                "[{}] took back {} {}s whose lease had run out",
                store.database().name(),
                count,
                kind);
    }

    /** The same on a database of other patience. */
    OwnWork<T, I> on(Database other) {
        return new OwnWork<>(store.on(other), kind, row, value, lease);
    }
}
