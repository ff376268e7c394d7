package dev.windlass.internal.queue;

import dev.windlass.base.Claims;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Dialect;
import dev.windlass.internal.loop.Chore;
import dev.windlass.internal.queue.WorkStore.Ending;
import dev.windlass.internal.queue.WorkStore.Failure;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.internal.support.ErrorText;
import dev.windlass.internal.support.Require;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that programs claim and do by themselves, of whatever queue: taken for a lease, and changed by its owner only.
 *
 * @param <T> what is claimed
 * @param <I> what names it
 */
public final class OwnWork<T, I> implements Claims<T, I> {
    private static final Logger log = LoggerFactory.getLogger(OwnWork.class);

    private final Database database;
    private final QueueStore<?> store;
    private final Take<T> take;
    private final Kind<I> kind;
    private final Duration lease;

    /**
     * What a claim took.
     *
     * @param value null if it cannot be read
     * @param problem why it cannot be read, without any of its content
     */
    public record Taken<T>(
            UUID id, @Nullable T value, @Nullable String problem) {
        private <S> Taken<S> as(Function<? super T, S> shown) {
            return new Taken<>(id, value == null ? null : shown.apply(value), problem);
        }
    }

    @FunctionalInterface
    private interface Take<T> {
        List<Taken<T>> of(
                Connection connection, @Nullable String topic, UUID owner, Duration lease, int limit, boolean each)
                throws SQLException;
    }

    /**
     * What sort of work it is.
     *
     * @param noun what one is called
     * @param named what its identifiers are called
     * @param ordered whether others may wait for the end of one
     */
    public record Kind<I>(String noun, String named, Function<I, UUID> value, boolean ordered) {}

    /**
     * @param lease how long after an interruption nothing is reaped
     */
    public OwnWork(QueueStore<T> store, Kind<I> kind, Duration lease) {
        this(store, store::claimAny, kind, lease);
    }

    /**
     * @param shown what a program sees of what is stored
     */
    public <S> OwnWork(QueueStore<S> store, Function<S, T> shown, Kind<I> kind, Duration lease) {
        this(
                store,
                (connection, topic, owner, length, limit, each) ->
                        store.claimAny(connection, topic, owner, length, limit, each).stream()
                                .map(taken -> taken.as(shown))
                                .toList(),
                kind,
                lease);
    }

    private OwnWork(QueueStore<?> store, Take<T> take, Kind<I> kind, Duration lease) {
        this.database = store.database;
        this.store = store;
        this.take = take;
        this.kind = kind;
        this.lease = lease;
    }

    /**
     * Takes what is ready; what cannot be read is set aside, and the rest returned. Not repeated: what a lost answer spoke of
     * would stay claimed, and the caller would not know. It can be found by its token.
     */
    @Override
    public List<T> claim(OwnerToken owner, Duration lease, int batchSize) {
        return claim(null, owner, lease, batchSize);
    }

    /** Of one topic; null stands for all. */
    public List<T> claim(@Nullable String topic, OwnerToken owner, Duration lease, int batchSize) {
        Require.present("owner token", owner);
        Require.positive("lease", lease);
        Require.positive("batch size", batchSize);
        try {
            List<Taken<T>> taken = take(topic, owner, lease, batchSize);
            setAside(owner, taken);
            log.debug("[{}] claimed {} {}s", database.name(), taken.size(), kind.noun());
            return taken.stream().map(Taken::value).filter(Objects::nonNull).toList();
        } catch (SQLException e) {
            throw database.failure("claim " + kind.noun() + "s", e);
        }
    }

    /** If the database refuses it, one may be at fault, as when a constraint or a trigger of the user's own refuses its change. */
    private List<Taken<T>> take(@Nullable String topic, OwnerToken owner, Duration lease, int batchSize)
            throws SQLException {
        try {
            return database.once(connection -> take.of(connection, topic, owner.value(), lease, batchSize, false));
        } catch (SQLException e) {
            Dialect dialect = database.dialect();
            if (!dialect.isAnswer(e) || dialect.isTransient(e) || dialect.isLackOfMemory(e)) {
                throw e;
            }
            log.warn(
                    "[{}] the database refuses a claim ({}); {}s are claimed one by one, and those that are refused are left",
                    database.name(),
                    database.describe(e),
                    kind.noun());
            return database.once(connection -> take.of(connection, topic, owner.value(), lease, batchSize, true));
        }
    }

    /** What cannot be set aside now comes again when its lease has run out. */
    private void setAside(OwnerToken owner, List<Taken<T>> taken) {
        List<Ending> unreadable = taken.stream()
                .filter(each -> each.problem() != null)
                .map(each -> new Ending(held(owner, each.id()), null, each.problem()))
                .toList();
        if (unreadable.isEmpty()) {
            return;
        }
        for (Ending each : unreadable) {
            log.warn("[{}] {} {} is set aside as failed: {}", database.name(), kind.noun(), each.id(), each.error());
        }
        try {
            database.once(connection -> store.fail(connection, unreadable));
        } catch (SQLException e) {
            log.warn("[{}] could not set them aside", database.name(), e);
        }
    }

    @Override
    public int ack(OwnerToken owner, Collection<I> ids) {
        return complete("ack", held(owner, ids), Held::id, store::ack);
    }

    /** With what it came to. */
    public int ack(OwnerToken owner, Collection<I> ids, Note note) {
        return complete("ack", noted(owner, ids, note), Held::id, store::ack);
    }

    private List<Held> noted(OwnerToken owner, Collection<I> ids, Note note) {
        return held(owner, ids).stream()
                .map(held -> new Held(held.id(), held.owner(), held.ordered(), note))
                .toList();
    }

    @Override
    public int abandon(OwnerToken owner, Collection<I> ids) {
        return abandon(held(owner, ids), null, null);
    }

    @Override
    public int abandon(OwnerToken owner, Collection<I> ids, Duration delay, String error) {
        Require.notNegative("delay", delay);
        return abandon(held(owner, ids), delay, bounded(error));
    }

    private int abandon(List<Held> all, @Nullable Duration delay, @Nullable String error) {
        List<Failure> failures =
                all.stream().map(held -> new Failure(held, delay, error)).toList();
        return complete("abandon", failures, Failure::id, store::abandon);
    }

    @Override
    public int release(OwnerToken owner, Collection<I> ids) {
        return complete("release", held(owner, ids), Held::id, store::release);
    }

    /** All that this owner holds, as after a claim whose answer was lost. */
    @Override
    public int release(OwnerToken owner) {
        Require.present("owner token", owner);
        return Completion.giveBack(database, kind.noun(), owner.value(), store);
    }

    /** Without a text: what is known of an earlier attempt stays. */
    @Override
    public int fail(OwnerToken owner, Collection<I> ids) {
        return end(owner, ids, null, store::fail);
    }

    @Override
    public int fail(OwnerToken owner, Collection<I> ids, String error) {
        return fail(owner, ids, error, store::fail);
    }

    /** In a way of the feature's own. */
    public int fail(OwnerToken owner, Collection<I> ids, String error, Fail fail) {
        return end(owner, ids, bounded(error), fail);
    }

    /** Ends messages as failed. */
    @FunctionalInterface
    public interface Fail {
        WorkStore.Answer run(Connection connection, List<Ending> endings) throws SQLException;
    }

    private int end(OwnerToken owner, Collection<I> ids, @Nullable String text, Fail fail) {
        List<Ending> endings = held(owner, ids).stream()
                .map(held -> new Ending(held, null, text))
                .toList();
        return complete("fail", endings, Ending::id, fail::run);
    }

    @Override
    public int heartbeat(OwnerToken owner, Collection<I> ids, Duration lease) {
        Require.positive("lease", lease);
        return complete(
                "renew", held(owner, ids), Held::id, (connection, held) -> store.heartbeat(connection, held, lease));
    }

    /** With how far it has come. */
    public int heartbeat(OwnerToken owner, Collection<I> ids, Duration lease, Note note) {
        Require.positive("lease", lease);
        return complete(
                "renew",
                noted(owner, ids, note),
                Held::id,
                (connection, held) -> store.heartbeat(connection, held, lease));
    }

    private static String bounded(@Nullable String error) {
        return ErrorText.bounded(Require.storable("error text", error));
    }

    private Held held(OwnerToken owner, UUID id) {
        return new Held(id, owner.value(), kind.ordered());
    }

    public List<Held> held(OwnerToken owner, Collection<I> ids) {
        Require.present("owner token", owner);
        return Require.elements(kind.named(), ids).stream()
                .distinct()
                .map(id -> held(owner, kind.value().apply(id)))
                .toList();
    }

    private <E> int complete(String verb, List<E> items, Function<E, UUID> id, Completion.Verb<E> run) {
        return Completion.of(database, verb, kind.noun(), items, id, run);
    }

    /** All there is, in batches. It fails only if none can be reaped. */
    @Override
    public int reapExpired() {
        int reaped = 0;
        for (int changed = reapBatch(); changed > 0; changed = reapFurther()) {
            reaped += changed;
        }
        if (reaped > 0) {
            reaped(reaped);
        }
        return reaped;
    }

    private int reapBatch() {
        return database.alone(
                "reap " + kind.noun() + "s", connection -> store.reap(connection, lease, Chore.BATCH, false));
    }

    private int reapFurther() {
        try {
            return reapBatch();
        } catch (WindlassException e) {
            log.warn("[{}] some {}s could not be reaped", database.name(), kind.noun(), e);
            return 0;
        }
    }

    /** One batch, for nodes, which do this all the time by themselves. */
    public int reap(int batch) throws SQLException {
        return database.once(connection -> store.reap(connection, lease, batch, true));
    }

    public void reaped(int count) {
        log.info("[{}] returned {} {}s to ready whose lease had run out", database.name(), count, kind.noun());
    }
}
