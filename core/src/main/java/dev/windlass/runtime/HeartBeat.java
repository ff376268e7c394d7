package dev.windlass.runtime;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of all that is in hand, every third of a lease, on a connection that is opened before the first claim and
 * kept: handlers that use up the pool cannot take it away. If it breaks, and the pool has no other, the connection for
 * notifications stands in, until there is one.
 *
 * <p>A row that somebody has locked is neither renewed nor lost; it is asked for again soon, and lost when its lease has run out.
 */
final class HeartBeat<M> {
    private static final Logger log = LoggerFactory.getLogger(HeartBeat.class);
    private static final Duration SHORTEST_ANSWER = Duration.ofMillis(250);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);
    private static final Duration LAST_BEAT = Duration.ofMillis(300);
    private static final int MOST_NAMED = 10;

    private final Database database;
    private final WorkStore<M> store;
    private final Hand<M> hand;
    private final Duration lease;
    private final Duration period;
    private final Duration patience;
    private final Duration answer;
    private final KeptConnection own;
    private final Listener standIn;
    private final AtomicBoolean standsIn = new AtomicBoolean();
    private final Loop loop;
    private volatile boolean all;

    /**
     * @param standIn has a connection, too, that nobody can take away
     */
    HeartBeat(Database database, WorkStore<M> store, Hand<M> hand, Workers workers, Duration lease, Listener standIn) {
        this.database = database;
        this.store = store;
        this.hand = hand;
        this.lease = lease;
        this.period = lease.dividedBy(3);
        this.patience = lease.dividedBy(6);
        this.answer = max(SHORTEST_ANSWER, lease.dividedBy(6));
        this.own = new KeptConnection(database, workers, answer);
        this.standIn = standIn;
        this.loop = new Loop(
                "[" + database.name() + "] renewing leases",
                workers,
                this::renew,
                max(SHORTEST_PAUSE, lease.dividedBy(12)));
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }

    void start() {
        loop.start();
    }

    /** Makes sure that what is claimed next can be renewed. */
    void open() throws SQLException {
        if (!own.await(standIn.canLend() ? Duration.ZERO : patience) && !standIn.canLend()) {
            throw noConnection(null);
        }
    }

    private SQLException noConnection(@Nullable SQLException failure) {
        Exception cause = failure == null ? own.refusal() : failure;
        if (cause instanceof SQLException sql) {
            return sql;
        }
        return cause == null
                ? new PoolTimeout(new SQLTimeoutException(), patience, "for heartbeats")
                : new SQLException("there is no connection for heartbeats", "08001", cause);
    }

    /** Renews all there is at once, and learns what is to be cancelled. */
    void renewAll() {
        all = true;
        loop.wake();
    }

    private Duration renew() throws SQLException {
        long before = System.nanoTime();
        long young = all ? Long.MAX_VALUE : lease.toNanos() - period.toNanos() / 2;
        all = false;
        List<Attempt<M>> due = hand.all().stream()
                .filter(attempt -> attempt.keepsLease() && attempt.leaseLeft(before) < young)
                .toList();
        return due.isEmpty() || renew(due, before) ? period : max(SHORTEST_PAUSE, period.dividedBy(10));
    }

    /** Returns whether something is known of each. */
    private boolean renew(List<Attempt<M>> due, long before) throws SQLException {
        List<WorkStore.Held> held = due.stream().map(Attempt::held).toList();
        WorkStore.Answer answered = call(connection -> store.heartbeat(connection, held, lease));
        List<Attempt<M>> lost = new ArrayList<>();
        for (Attempt<M> attempt : due) {
            if (answered.lost().contains(attempt.claimed.id())) {
                lost.add(attempt);
            } else if (!answered.locked().contains(attempt.claimed.id())) {
                attempt.renewed(before + lease.toNanos());
            }
            if (answered.cancelled().contains(attempt.claimed.id()) && attempt.cancel(Attempt.Reason.STOPPED)) {
                log.info(
                        "[{}] {} of {} is to be cancelled; its handler is asked to stop",
                        database.name(),
                        attempt.claimed.id(),
                        attempt.claimed.topic());
            }
        }
        lose(lost);
        return answered.locked().isEmpty();
    }

    /** A message that has ended meanwhile is not renewed either; only one that has not has lost its lease. */
    private void lose(List<Attempt<M>> lost) {
        List<Attempt<M>> asked = lost.stream()
                .filter(attempt -> attempt.cancel(Attempt.Reason.LEASE_LOST))
                .toList();
        for (Attempt<M> attempt : asked.subList(0, Math.min(MOST_NAMED, asked.size()))) {
            log.warn(
                    "[{}] lost the lease of message {} of topic {}; its handler is asked to stop",
                    database.name(),
                    attempt.claimed.id(),
                    attempt.claimed.topic());
        }
        if (asked.size() > MOST_NAMED) {
            log.warn("[{}] lost the leases of {} more messages", database.name(), asked.size() - MOST_NAMED);
        }
    }

    /** Writes down that the handlers of these start now; as little held up by handlers as a renewal is. */
    WorkStore.Answer start(List<WorkStore.Held> held) throws SQLException {
        return call(connection -> store.start(connection, held));
    }

    /** Takes at most half a lease, whatever is broken. */
    private <T> T call(Database.Work<T> work) throws SQLException {
        SQLException failure = null;
        if (own.isThere()) {
            try {
                return onOwn(work);
            } catch (SQLException e) {
                if (own.isThere()) {
                    throw e;
                }
                failure = e;
            }
        }
        if (own.await(standsIn.get() ? Duration.ZERO : patience)) {
            return onOwn(work);
        }
        if (!standIn.canLend()) {
            throw noConnection(failure);
        }
        standsIn(true);
        return standIn.lend(answer, work);
    }

    private <T> T onOwn(Database.Work<T> work) throws SQLException {
        T result = own.call(work);
        standsIn(false);
        return result;
    }

    private void standsIn(boolean now) {
        if (standsIn.compareAndSet(!now, now)) {
            if (now) {
                log.warn(
                        "[{}] the connection for heartbeats broke, and the pool has no other; the one for notifications"
                                + " stands in",
                        database.name());
            } else {
                log.info("[{}] heartbeats have a connection of their own again", database.name());
            }
        }
    }

    /** Renews no more, and waits a moment for a renewal that is under way. */
    void finish() {
        loop.stop(LAST_BEAT);
        abort();
    }

    /** Ends the connection, and with it a call that hangs. */
    void abort() {
        own.stop();
    }
}
