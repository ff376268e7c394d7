package dev.windlass.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that is one statement, on a connection that is there. The server commits it: a process that stands still between a statement and its
 * commit would keep the rows locked. What takes too long is given up, at the server first.
 */
public final class Statements {
    private static final Logger log = LoggerFactory.getLogger(Database.class);

    /** For a server to take note that calls are to be given up, before their connections end. */
    private static final Duration LAST_WORD = Duration.ofMillis(200);

    private final Database database;
    private final Availability availability;
    private final Later later;

    Statements(Database database, Availability availability, Later later) {
        this.database = database;
        this.availability = availability;
        this.later = later;
    }

    <T> T run(Connection connection, Database.Work<T> work) throws SQLException {
        boolean manual = !connection.getAutoCommit();
        if (manual) {
            connection.setAutoCommit(true);
        }
        try {
            long began = availability.now();
            T result = work.run(connection);
            availability.found(began);
            return result;
        } catch (SQLException e) {
            database.note(e);
            SQLException safe = database.safe(e);
            discard(connection, safe);
            throw safe;
        } catch (RuntimeException e) {
            SQLException safe = database.noted(e);
            discard(connection, safe);
            throw safe;
        } finally {
            if (manual) {
                setManual(connection);
            }
        }
    }

    private void discard(Connection connection, SQLException cause) {
        try {
            if (database.dialect().spoilsConnection(cause)) {
                connection.abort(Runnable::run);
            }
        } catch (SQLException e) {
            cause.addSuppressed(database.safe(e));
        }
    }

    /** Says nothing about the work. */
    private void setManual(Connection connection) {
        try {
            connection.setAutoCommit(false);
        } catch (SQLException e) {
            log.debug("[{}] a connection could not be given back as it was", database.name(), e);
        }
    }

    /** The same, given up together with the connection after that many milliseconds. */
    <T> T runWithin(int millis, Connection connection, Database.Work<T> work) throws SQLException {
        int before = connection.getNetworkTimeout();
        if (before > 0 && before <= millis) {
            return runCancelling(before, connection, work);
        }
        connection.setNetworkTimeout(Runnable::run, millis);
        try {
            return runCancelling(millis, connection, work);
        } finally {
            restore(connection, before);
        }
    }

    /** Says nothing about the work either: a connection that has just broken is found out by whoever borrows it next. */
    private void restore(Connection connection, int networkTimeout) {
        try {
            connection.setNetworkTimeout(Runnable::run, networkTimeout);
        } catch (SQLException e) {
            log.debug("[{}] the time-out of a connection could not be restored", database.name(), e);
        }
    }

    /**
     * The same, where the server is asked to give it up a little before the network time-out strikes. If that happens, the connection is of
     * no more use.
     *
     * @param millis the network time-out of the connection
     */
    public <T> T runCancelling(int millis, Connection connection, Database.Work<T> work) throws SQLException {
        TimeLimit limit = new TimeLimit(millis, connection, database.dialect(), later);
        try {
            return run(connection, work);
        } finally {
            if (limit.end()) {
                abort(connection);
            }
        }
    }

    /** Ends connections on which calls hang, and the calls at the server, too, if it answers at once; the calls fail. */
    public void breakOff(Collection<Connection> hanging) {
        CountDownLatch cancelled = new CountDownLatch(hanging.size());
        try {
            for (Connection each : hanging) {
                var unused = later.after(Duration.ZERO, () -> {
                    TimeLimit.cancel(each, database.dialect());
                    cancelled.countDown();
                });
            }
            if (later != Later.NEVER && !cancelled.await(LAST_WORD.toMillis(), TimeUnit.MILLISECONDS)) {
                log.debug("[{}] the server does not answer a request to give up a call", database.name());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        hanging.forEach(Statements::abort);
    }

    /** Ends a connection on which a call hangs; the call fails. */
    public static void abort(@Nullable Connection connection) {
        try {
            if (connection != null) {
                connection.abort(Runnable::run);
            }
        } catch (SQLException e) {
            log.debug("aborting a connection failed", e);
        }
    }
}
