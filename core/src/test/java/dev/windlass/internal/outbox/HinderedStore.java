package dev.windlass.internal.outbox;

import dev.windlass.TestDatabase;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.OrderedStore;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.trace.Tracing;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The real store, with what may go wrong on the way to it and back: lost answers, answers that cannot be read, locked rows. */
class HinderedStore implements OrderedStore<OutboxMessage> {
    final OutboxStore real;

    /** These rows are said to be locked. */
    final Set<UUID> locked = ConcurrentHashMap.newKeySet();

    HinderedStore(TestDatabase database) {
        this.real = new OutboxStore(routines(database), OutboxOptions.defaults(), "test", () -> false);
    }

    static Database routines(TestDatabase database) {
        return routines(database, Events.NONE);
    }

    static Database routines(TestDatabase database, Events events) {
        return new Database(
                database.dataSource(), new PostgresDialect(), database.schema(), "test", events, Tracing.NONE, null);
    }

    static SQLException lostAnswer() {
        return new SQLException("an I/O error occurred while sending to the backend", "08006");
    }

    @Override
    public List<Claimed<OutboxMessage>> claim(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return real.claim(connection, owner, lease, limit, bytes, demands);
    }

    @Override
    public List<Claimed<OutboxMessage>> claimEach(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return real.claimEach(connection, owner, lease, limit, bytes, demands);
    }

    @Override
    public GivenBack giveBack(Connection connection, UUID owner, @Nullable String problem) throws SQLException {
        return real.giveBack(connection, owner, problem);
    }

    @Override
    public Answer start(Connection connection, List<Held> held) throws SQLException {
        return real.start(connection, held);
    }

    @Override
    public Answer ack(Connection connection, List<Held> held) throws SQLException {
        return besideLocked(held, Function.identity(), free -> real.ack(connection, free));
    }

    @Override
    public Acked<OutboxMessage> ackAndTake(Connection connection, List<Held> held, Taker taker) throws SQLException {
        return real.ackAndTake(connection, held, taker);
    }

    @Override
    public Answer abandon(Connection connection, List<Failure> failures) throws SQLException {
        return besideLocked(failures, Failure::held, free -> real.abandon(connection, free));
    }

    @Override
    public Answer fail(Connection connection, List<Ending> endings) throws SQLException {
        return besideLocked(endings, Ending::held, free -> real.fail(connection, free));
    }

    @Override
    public Answer release(Connection connection, List<Held> held) throws SQLException {
        return besideLocked(held, Function.identity(), free -> real.release(connection, free));
    }

    @Override
    public Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
        return real.heartbeat(connection, held, lease);
    }

    private interface Verb<T> {
        Answer run(List<T> free) throws SQLException;
    }

    private <T> Answer besideLocked(List<T> all, Function<T, Held> held, Verb<T> verb) throws SQLException {
        Set<UUID> stuck = new HashSet<>();
        all.forEach(each -> stuck.add(held.apply(each).id()));
        stuck.retainAll(locked);
        List<T> free = all.stream()
                .filter(each -> !stuck.contains(held.apply(each).id()))
                .toList();
        Answer answer = free.isEmpty() ? Answer.all(0) : verb.run(free);
        return new Answer(answer.changed(), stuck, answer.lost());
    }

    @Override
    public int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException {
        return real.reap(connection, quiet, limit, watched);
    }

    @Override
    public int expire(Connection connection, int limit) throws SQLException {
        return real.expire(connection, limit);
    }

    @Override
    public Cleaned clean(Connection connection, int limit, Instant after) throws SQLException {
        return real.clean(connection, limit, after);
    }

    @Override
    public Map<String, Upkeep> upkeep() {
        return real.upkeep();
    }

    @Override
    public Optional<Duration> nextDue(Connection connection, List<Demand> demands) throws SQLException {
        return real.nextDue(connection, demands);
    }

    @Override
    public Decided decidedTopics(Connection connection) throws SQLException {
        return real.decidedTopics(connection);
    }

    @Override
    public Call look(Connection connection, @Nullable List<String> topics, boolean others) {
        return real.look(connection, topics, others);
    }
}
