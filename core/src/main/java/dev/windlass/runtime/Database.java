package dev.windlass.runtime;

import dev.windlass.WindlassException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One schema of one database: borrows connections, calls routines, tells transient errors from others.
 *
 * <p>Thread-safe.
 */
public final class Database {
    private static final Logger log = LoggerFactory.getLogger(Database.class);
    private static final int TRIES = 4;

    /** As the standard has it. */
    private static final String CANNOT_CONNECT = "08001";

    /** An exhausted pool answers only after its own time-out; the caller must not wait for several of them. */
    private static final long TRY_NANOS = Duration.ofSeconds(2).toNanos();

    private final DataSource dataSource;
    private final Dialect dialect;
    private final String schema;
    private final String name;
    private final int answerMillis;
    private final Sight sight;
    private final Calls calls;

    /** What was last seen of the server, by whoever uses it. */
    private static final class Sight {
        private volatile boolean away;
    }

    /**
     * @param name identifies this store in logs and errors
     */
    public Database(DataSource dataSource, Dialect dialect, String schema, String name) {
        this(dataSource, dialect, schema, name, 0, new Sight(), new Calls());
    }

    private Database(
            DataSource dataSource,
            Dialect dialect,
            String schema,
            String name,
            int answerMillis,
            Sight sight,
            Calls calls) {
        this.dataSource = dataSource;
        this.dialect = dialect;
        this.schema = schema;
        this.name = name;
        this.answerMillis = answerMillis;
        this.sight = sight;
        this.calls = calls;
    }

    /**
     * The same for loops, which nobody watches: a call without an answer for this long is given up together with its
     * connection. A network that swallows packets would hold it for ever where no socket time-out is set. {@link #breakOff} and
     * {@link #end} are about these calls alone.
     */
    public Database answeringWithin(Duration time) {
        return new Database(dataSource, dialect, schema, name, (int) time.toMillis(), sight, new Calls());
    }

    /** The same under another name, for one of several users of a database. */
    public Database named(String name) {
        return new Database(dataSource, dialect, schema, name, answerMillis, sight, calls);
    }

    public String name() {
        return name;
    }

    public String schema() {
        return schema;
    }

    public Dialect dialect() {
        return dialect;
    }

    public Call call(Connection connection, String routine) {
        return new Call(dialect, connection, schema, routine);
    }

    /** Borrows a connection that the caller closes. */
    public Connection connect() throws SQLException {
        long before = System.nanoTime();
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            SQLException safe = noConnection(e, Duration.ofNanos(System.nanoTime() - before));
            note(safe);
            throw safe;
        }
    }

    /**
     * A pool tells one of those who wait why a connection could not be made, and the others only that their time is up. While the
     * database is known to be away, that is the reason for them too.
     */
    private SQLException noConnection(SQLException e, Duration waited) {
        SQLException safe = SafeCopies.whileConnecting(e, dialect);
        if (!PoolTimeout.is(e)) {
            return safe;
        }
        String said = dialect.describe(e);
        return sight.away
                ? new SqlError("the database is away (" + said + ")", CANNOT_CONNECT, e)
                : new PoolTimeout(e, waited, said);
    }

    /** An error that somebody met on a connection from here. */
    void note(SQLException e) {
        if (dialect.isOutage(e)) {
            sight.away = true;
        }
    }

    /** Runs work in a transaction of its own, once. */
    public <T> T once(Work<T> work) throws SQLException {
        try (Connection connection = connect()) {
            return answerMillis == 0 ? transact(connection, work) : transactInTime(connection, work);
        } catch (SQLException e) {
            note(e);
            throw safe(e);
        }
    }

    private <T> T transactInTime(Connection connection, Work<T> work) throws SQLException {
        calls.begin(connection);
        try {
            return transactWithin(answerMillis, connection, work);
        } finally {
            calls.ended(connection);
        }
    }

    /** Runs work that is one statement, and gives it up, together with the connection, after that many milliseconds. */
    <T> T transactWithin(int millis, Connection connection, Work<T> work) throws SQLException {
        int before = connection.getNetworkTimeout();
        if (before > 0 && before <= millis) {
            return transact(connection, work);
        }
        connection.setNetworkTimeout(Runnable::run, millis);
        try {
            return transact(connection, work);
        } finally {
            restore(connection, before);
        }
    }

    /** Says nothing about the work: a connection that has just broken is found out by whoever borrows it next. */
    private void restore(Connection connection, int networkTimeout) {
        try {
            connection.setNetworkTimeout(Runnable::run, networkTimeout);
        } catch (SQLException e) {
            log.debug("[{}] the time-out of a connection could not be restored", name, e);
        }
    }

    /**
     * Runs work in a transaction of its own, and again, a few times, after a transient error. Only for work that is
     * harmless to repeat when it is not known whether the first try was committed.
     */
    public <T> T retrying(String what, Work<T> work) {
        long start = System.nanoTime();
        for (int attempt = 1; ; attempt++) {
            try {
                return once(work);
            } catch (SQLException e) {
                boolean last = attempt == TRIES || System.nanoTime() - start > TRY_NANOS;
                if (last || !dialect.isTransient(e)) {
                    throw failure(what, e);
                }
                log.debug("[{}] {} failed, trying again: {}", name, what, describe(e));
                pause(what, e, attempt);
            }
        }
    }

    private void pause(String what, SQLException cause, int attempt) {
        try {
            Thread.sleep((20L << attempt) + ThreadLocalRandom.current().nextInt(20));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(what, cause);
        }
    }

    /**
     * Runs work that is one statement, and has the server commit it: a process that stands still between a statement and its
     * commit would keep the rows locked.
     */
    public <T> T transact(Connection connection, Work<T> work) throws SQLException {
        boolean manual = !connection.getAutoCommit();
        if (manual) {
            connection.setAutoCommit(true);
        }
        try {
            T result = work.run(connection);
            sight.away = false;
            return result;
        } catch (SQLException e) {
            note(e);
            SQLException safe = safe(e);
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
            if (dialect.spoilsConnection(cause)) {
                connection.abort(Runnable::run);
            }
        } catch (SQLException e) {
            cause.addSuppressed(safe(e));
        }
    }

    /** Says nothing about the work either. */
    private void setManual(Connection connection) {
        try {
            connection.setAutoCommit(false);
        } catch (SQLException e) {
            log.debug("[{}] a connection could not be given back as it was", name, e);
        }
    }

    /** Rolls back. A connection that was lost cannot be; what lost it is what the caller needs to know. */
    public void undo(Connection connection, boolean autoCommit, Throwable cause) {
        try {
            connection.rollback();
            connection.setAutoCommit(autoCommit);
        } catch (SQLException e) {
            cause.addSuppressed(safe(e));
        }
    }

    /** Closes a connection that was kept, with the time-out it came with: not every pool resets that. */
    public static void giveBack(Connection connection, int networkTimeout) throws SQLException {
        try (connection) {
            connection.setNetworkTimeout(Runnable::run, networkTimeout);
        }
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

    /** The exception for callers of the public API. */
    public WindlassException failure(String what, SQLException e) {
        return new WindlassException("[" + name + "] could not " + what + ": " + describe(e), safe(e));
    }

    /** An error in one line, without a word that may come from a row. */
    public String describe(SQLException e) {
        return dialect.describe(e);
    }

    /** An error as it may be logged and passed on: it quotes no row. */
    public SQLException safe(SQLException e) {
        return SafeCopies.of(e, dialect);
    }

    /** An exception, perhaps of users' code, as it may be logged and stored: no error of a database in it quotes a row. */
    public Throwable safe(Throwable thrown) {
        return SafeCopies.of(thrown, dialect);
    }

    /** Ends the calls that are under way, together with their connections; they fail. */
    public void breakOff() {
        calls.breakOff();
    }

    /** The same, and lets no further call begin. */
    public void end() {
        calls.end();
    }

    /** Work on a connection that somebody else opens, commits and closes. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Connection connection) throws SQLException;
    }
}
