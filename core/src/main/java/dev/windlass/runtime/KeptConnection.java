package dev.windlass.runtime;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is kept, so that handlers that use up the pool cannot take it away.
 *
 * <p>If it breaks, another is asked for on a thread of its own: a pool that has none may hold whoever asks for longer than a
 * lease. Thread-safe; calls follow each other in the order they came.
 */
final class KeptConnection {
    private static final Logger log = LoggerFactory.getLogger(KeptConnection.class);

    private final Database database;
    private final Workers workers;
    private final int answerMillis;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition changed = lock.newCondition();
    private volatile @Nullable Connection connection;
    private volatile boolean stopped;
    private boolean asked;
    private @Nullable Exception refusal;
    private int timeoutBefore;

    /**
     * @param answer after which time without an answer the connection is given up
     */
    KeptConnection(Database database, Workers workers, Duration answer) {
        this.database = database;
        this.workers = workers;
        this.answerMillis = (int) answer.toMillis();
    }

    /** Whether it is there, now or within this time. */
    boolean await(Duration patience) throws SQLException {
        lock.lock();
        try {
            long left = patience.toNanos();
            ask();
            while (connection == null && asked && left > 0) {
                left = changed.awaitNanos(left);
            }
            return connection != null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while waiting for a connection", "08001", e);
        } finally {
            lock.unlock();
        }
    }

    boolean isThere() {
        return connection != null;
    }

    /** Why there is none, if that is known. */
    @Nullable
    Exception refusal() {
        lock.lock();
        try {
            return refusal;
        } finally {
            lock.unlock();
        }
    }

    private void ask() {
        if (connection != null || asked || stopped) {
            return;
        }
        try {
            asked = true;
            workers.runLoop(this::connect);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            asked = false;
            log.debug("[{}] found no thread to ask for a connection", database.name(), e);
        }
    }

    private void connect() {
        Connection opened = null;
        Exception why = null;
        try {
            opened = prepared(database.connect());
        } catch (SQLException | RuntimeException e) {
            why = e;
        } finally {
            arrived(opened, why);
        }
    }

    private Connection prepared(Connection opened) throws SQLException {
        try {
            timeoutBefore = opened.getNetworkTimeout();
            opened.setNetworkTimeout(Runnable::run, answerMillis);
            return opened;
        } catch (SQLException e) {
            opened.close();
            throw e;
        }
    }

    private void arrived(@Nullable Connection opened, @Nullable Exception why) {
        lock.lock();
        try {
            connection = opened;
            refusal = why;
            asked = false;
            if (stopped) {
                discard();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Runs work on it if it is there, as {@link #await} tells. */
    <T> T call(Database.Work<T> work) throws SQLException {
        lock.lock();
        try {
            Connection open = connection;
            if (open == null) {
                throw new SQLException("there is no connection for heartbeats", "08003");
            }
            return database.transact(open, work);
        } catch (SQLException e) {
            if (database.dialect().isOutage(e) || !database.dialect().isTransient(e)) {
                discard(); // a deadlock costs the call, not the connection, which the pool may be unable to replace
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    private void discard() {
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
    void stop() {
        stopped = true;
        if (lock.tryLock()) {
            try {
                discard();
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        } else {
            Database.abort(connection);
        }
    }
}
