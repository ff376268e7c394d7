package dev.windlass.lease;

import dev.windlass.runtime.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is opened for the first renewal and kept while leases are held: work that uses up the pool cannot take it
 * away.
 */
final class KeptConnection {
    private static final Logger log = LoggerFactory.getLogger(KeptConnection.class);

    private final Database database;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Connection connection;
    private volatile boolean stopped;
    private int timeoutBefore;

    KeptConnection(Database database) {
        this.database = database;
    }

    /** Gives a call up that has no answer within this time, together with the connection. */
    <T> T call(Duration bound, Database.Work<T> work) throws SQLException {
        lock.lock();
        try {
            Connection open = open();
            open.setNetworkTimeout(Runnable::run, (int) bound.toMillis());
            return database.transact(open, work);
        } catch (SQLException e) {
            if (database.dialect().isOutage(e) || !database.dialect().isTransient(e)) {
                discard();
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    private Connection open() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = database.connect();
            connection = open;
            timeoutBefore = open.getNetworkTimeout();
        }
        if (stopped) {
            throw new SQLException("leases are not renewed any more", "08003");
        }
        return open;
    }

    void close() {
        lock.lock();
        try {
            discard();
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
            log.debug("[{}] closing the connection for renewals failed", database.name(), e);
        }
    }

    /** Does not wait for a database that does not answer: a call that hangs loses its connection. */
    void stop() {
        stopped = true;
        if (lock.tryLock()) {
            try {
                discard();
            } finally {
                lock.unlock();
            }
        } else {
            Database.abort(connection);
        }
    }
}
