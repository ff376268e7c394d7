package dev.windlass.internal.outbox;

import dev.windlass.internal.database.Call;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The real store, except for what it says about messages it has claimed, and what becomes of their start. */
final class ChangedStore implements WorkStore<OutboxMessage> {
    private final OutboxStore real;
    private final UnaryOperator<Claimed<OutboxMessage>> change;
    private final Start start;

    @FunctionalInterface
    interface Start {
        Answer answer(Held held) throws SQLException;
    }

    ChangedStore(OutboxStore real, UnaryOperator<Claimed<OutboxMessage>> change, Start start) {
        this.real = real;
        this.change = change;
        this.start = start;
    }

    @Override
    public List<Claimed<OutboxMessage>> claimEach(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return claim(connection, owner, lease, limit, bytes, demands);
    }

    @Override
    public List<Claimed<OutboxMessage>> claim(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException {
        return real.claim(connection, owner, lease, limit, bytes, demands).stream()
                .map(change)
                .toList();
    }

    @Override
    public Answer start(Connection connection, List<Held> held) throws SQLException {
        return start.answer(held.get(0));
    }

    @Override
    public GivenBack giveBack(Connection connection, UUID owner, @Nullable String problem) throws SQLException {
        return real.giveBack(connection, owner, problem);
    }

    @Override
    public Answer ack(Connection connection, List<Held> held) throws SQLException {
        return real.ack(connection, held);
    }

    @Override
    public Answer abandon(Connection connection, List<Failure> failures) throws SQLException {
        return real.abandon(connection, failures);
    }

    @Override
    public Answer fail(Connection connection, List<Ending> endings) throws SQLException {
        return real.fail(connection, endings);
    }

    @Override
    public Answer release(Connection connection, List<Held> held) throws SQLException {
        return real.release(connection, held);
    }

    @Override
    public Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException {
        return real.heartbeat(connection, held, lease);
    }

    @Override
    public int expire(Connection connection, int limit) throws SQLException {
        return real.expire(connection, limit);
    }

    @Override
    public int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException {
        return real.reap(connection, quiet, limit, watched);
    }

    @Override
    public Cleaned clean(Connection connection, int limit, Instant after) throws SQLException {
        return real.clean(connection, limit, after);
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
