package dev.windlass.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the server to give up a statement, a little before the network time-out ends its connection: whoever waits gets an answer, and
 * the server keeps no session that waits for a lock when nobody waits for the session any more.
 */
final class TimeLimit {
    private static final Logger log = LoggerFactory.getLogger(TimeLimit.class);

    /** The server has so much of the time to answer that it gave up, but no more than a second. */
    private static final int LAST_PART = 4;

    private static final int LONGEST_LAST_PART_MILLIS = 1000;

    private final Dialect dialect;
    private final Connection connection;
    private final Future<?> timer;
    private boolean over;
    private boolean struck;

    /**
     * @param millis when the network time-out strikes
     */
    TimeLimit(int millis, Connection connection, Dialect dialect, Later later) {
        this.dialect = dialect;
        this.connection = connection;
        int before = Math.min(millis / LAST_PART, LONGEST_LAST_PART_MILLIS);
        this.timer = later.after(Duration.ofMillis(millis - before), this::strike);
    }

    private void strike() {
        synchronized (this) {
            if (over) {
                return;
            }
            struck = true;
        }
        cancel(connection, dialect);
    }

    static void cancel(Connection connection, Dialect dialect) {
        try {
            dialect.cancel(connection);
        } catch (SQLException | RuntimeException | LinkageError e) {
            log.debug("a statement could not be cancelled", e);
        }
    }

    /** Returns whether it has struck: then the connection must be used by nobody else, whose statement would be given up instead. */
    boolean end() {
        timer.cancel(false);
        synchronized (this) {
            over = true;
            return struck;
        }
    }
}
