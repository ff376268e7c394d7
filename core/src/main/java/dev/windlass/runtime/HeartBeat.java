package dev.windlass.runtime;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of all that is in hand, every third of a lease, on a connection that is opened before the first claim and
 * kept: handlers that use up the pool cannot take it away.
 */
final class HeartBeat<M> {
    private static final Logger log = LoggerFactory.getLogger(HeartBeat.class);

    private final Database database;
    private final WorkStore<M> store;
    private final Hand<M> hand;
    private final Duration lease;
    private final Duration period;
    private final Loop loop;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Connection connection;
    private volatile boolean stopped;
    private int timeoutBefore;

    HeartBeat(Database database, WorkStore<M> store, Hand<M> hand, Workers workers, Duration lease) {
        this.database = database;
        this.store = store;
        this.hand = hand;
        this.lease = lease;
        this.period = lease.dividedBy(3);
        this.loop = new Loop("[" + database.name() + "] renewing leases", workers, this::renew);
    }

    void start() {
        loop.start();
    }

    /** Makes sure that what is claimed next can be renewed. */
    void open() throws SQLException {
        lock.lock();
        try {
            if (connection == null) {
                connection = prepared(database.connect());
            }
        } finally {
            lock.unlock();
        }
    }

    private Connection prepared(Connection opened) throws SQLException {
        try {
            if (stopped) {
                throw new SQLException("leases are not renewed any more", "08003");
            }
            timeoutBefore = opened.getNetworkTimeout();
            opened.setNetworkTimeout(Runnable::run, (int) Math.max(1000, period.toMillis()));
            return opened;
        } catch (SQLException e) {
            opened.close();
            throw e;
        }
    }

    private Duration renew() throws SQLException {
        long before = System.nanoTime();
        long young = lease.toNanos() - period.toNanos() / 2;
        List<Attempt<M>> due = hand.all().stream()
                .filter(attempt -> attempt.keepsLease() && attempt.leaseLeft(before) < young)
                .toList();
        if (!due.isEmpty()) {
            WorkStore.Answer answer = call(due.stream().map(Attempt::held).toList());
            due.forEach(attempt -> settle(attempt, answer, before));
        }
        return period;
    }

    private WorkStore.Answer call(List<WorkStore.Held> held) throws SQLException {
        open();
        lock.lock();
        try {
            Connection open = connection;
            if (open == null) {
                throw new SQLException("the connection was closed", "08003");
            }
            return database.transact(open, c -> store.heartbeat(c, held, lease));
        } catch (SQLException e) {
            if (database.dialect().isOutage(e) || !database.dialect().isTransient(e)) {
                close(); // a deadlock costs the call, not the connection, which the pool may be unable to replace
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** A message that has ended meanwhile is not renewed either; only one that has not has lost its lease. */
    private void settle(Attempt<M> attempt, WorkStore.Answer answer, long before) {
        if (answer.locked().contains(attempt.claimed.id())) {
            return;
        }
        if (!answer.lost().contains(attempt.claimed.id())) {
            attempt.renewed(before + lease.toNanos());
        } else if (attempt.cancel(Attempt.Reason.LEASE_LOST)) {
            log.warn(
                    "[{}] lost the lease of message {} of topic {}; its handler is asked to stop",
                    database.name(),
                    attempt.claimed.id(),
                    attempt.claimed.topic());
        }
    }

    /** Called under the lock. */
    private void close() {
        Connection open = connection;
        connection = null;
        try {
            if (open != null) {
                Database.giveBack(open, timeoutBefore);
            }
        } catch (SQLException e) {
            log.debug("[{}] closing the connection for heartbeats failed", database.name(), e);
        }
    }

    /** Does not wait for a database that does not answer: a call that hangs loses its connection. */
    void stop(Duration patience) {
        stopped = true;
        loop.stop(patience);
        if (lock.tryLock()) {
            try {
                close();
            } finally {
                lock.unlock();
            }
        } else {
            Database.abort(connection);
        }
    }
}
