package dev.windlass.internal.database;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.TransactionEnd;
import dev.windlass.base.WindlassException;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.support.Require;
import dev.windlass.trace.Tracing;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
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
    /** As the standard has it. */
    private static final String CANNOT_CONNECT = "08001";

    private static final String COMPLETION_UNKNOWN = "40003";

    private static final String TRANSACTION_REQUIRED = "25P01";

    /** An exhausted pool answers only after its own time-out; the caller must not wait for several of them. */
    private static final long TRY_NANOS = Duration.ofSeconds(2).toNanos();

    private final DataSource dataSource;
    private final Dialect dialect;
    private final String schema;
    private final String store;
    private final Events events;
    private final Tracing tracing;
    private final Availability availability;
    private final OpenTransactions transactions;
    private final Logins logins;
    private final Manner manner;
    private final OpenCalls calls;
    private final Statements statements;

    public Database(DataSource dataSource, Dialect dialect, String schema, String name) {
        this(dataSource, dialect, schema, name, Events.NONE, Tracing.NONE, null);
    }

    /**
     * @param name identifies this store in logs, errors and events
     * @param ambient the transactions of the framework that the program lives in, if there is one
     */
    public Database(
            DataSource dataSource,
            Dialect dialect,
            String schema,
            String name,
            Events events,
            Tracing tracing,
            @Nullable AmbientTransactions ambient) {
        this.dataSource = dataSource;
        this.dialect = dialect;
        this.schema = schema;
        this.store = name;
        this.events = events;
        this.tracing = tracing;
        this.availability = new Availability(name, events, MonotonicClock.system());
        this.transactions = new OpenTransactions(dialect, ambient);
        this.logins = new Logins(dataSource::getConnection);
        this.manner = Manner.usual(name);
        this.calls = new OpenCalls();
        this.statements = new Statements(this, availability, manner.later());
    }

    /** The same database for another user of it. */
    private Database(Database same, Manner manner, OpenCalls calls) {
        this.dataSource = same.dataSource;
        this.dialect = same.dialect;
        this.schema = same.schema;
        this.store = same.store;
        this.events = same.events;
        this.tracing = same.tracing;
        this.availability = same.availability;
        this.transactions = same.transactions;
        this.logins = same.logins;
        this.manner = manner;
        this.calls = calls;
        this.statements = new Statements(this, availability, manner.later());
    }

    private Database with(Manner other) {
        return new Database(this, other, calls);
    }

    /**
     * The same for loops, which nobody watches: a call without an answer for this long is given up together with its
     * connection. A network that swallows packets would hold it for ever where no socket time-out is set. {@link #breakOff} and
     * {@link #end} are about these calls alone.
     */
    public Database answeringWithin(Duration time) {
        return new Database(this, manner.withAnswerWithin(time), new OpenCalls());
    }

    /**
     * The same for those who must go on, whatever a data source does: one that gives no connection within this time is waited for no longer.
     * Each login has a thread of its own then.
     */
    public Database givingUpLogins(Duration longest) {
        return with(manner.withLongestLogin(longest));
    }

    /** The same, whose calls without an answer are given up at the server, too, by these threads. */
    public Database cancelling(Later later) {
        return with(manner.withLater(later));
    }

    /** The same under another name, for one of several users of a database. */
    public Database named(String name) {
        return with(manner.withName(name));
    }

    /** The same for callers who may bring connections that commit each statement by itself. */
    public Database allowingAutoCommit(boolean allowed) {
        return with(manner.withAutoCommitAllowed(allowed));
    }

    /** The same for callers who mean to be in a transaction whenever they {@link #adding add} something. */
    public Database requiringTransactions(boolean required) {
        return with(manner.withTransactionRequired(required));
    }

    /** The same with another number of tries, and other pauses between them. */
    public Database retryingBy(RetryPolicy retries) {
        return with(manner.withRetries(retries));
    }

    public String name() {
        return manner.name();
    }

    /** Whether the last that was heard of it is that it is away. */
    public boolean isAway() {
        return availability.isAway();
    }

    /** For how long it has been seen to answer, of the time since then; nothing while it is away. */
    public Duration answeredSince(long nanos) {
        return availability.answeredSince(nanos);
    }

    /** What identifies it in events, whoever of its users it is. */
    public String store() {
        return store;
    }

    public Events events() {
        return events;
    }

    public Tracing tracing() {
        return tracing;
    }

    public String schema() {
        return schema;
    }

    public Dialect dialect() {
        return dialect;
    }

    /** For connections that are there. */
    public Statements statements() {
        return statements;
    }

    public Call call(Connection connection, String routine) {
        return new Call(dialect, connection, schema, routine);
    }

    /** Borrows a connection that the caller closes. */
    public Connection connect() throws SQLException {
        long before = System.nanoTime();
        try {
            Duration longest = manner.longestLogin();
            return longest == null ? dataSource.getConnection() : logins.within(longest);
        } catch (SQLException e) {
            SQLException safe = noConnection(e, Duration.ofNanos(System.nanoTime() - before));
            note(safe);
            throw safe;
        } catch (RuntimeException e) {
            throw noted(e);
        }
    }

    /** What a data source or driver throws instead of an SQLException. */
    SQLException noted(RuntimeException e) {
        SQLException safe = SafeCopies.unwrapped(e, dialect);
        note(safe);
        return safe;
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
        if (availability.isAway()) {
            return new SqlError("the database is away (" + said + ")", CANNOT_CONNECT, e, true);
        }
        PoolTimeout timeout = new PoolTimeout(e, waited, said);
        availability.starved(timeout);
        return timeout;
    }

    /** An error that somebody met on a connection from here. What meets the end of a node tells nothing of the database. */
    public void note(SQLException e) {
        if (dialect.isOutage(e) && !calls.haveEnded()) {
            availability.lost(describe(e));
        }
    }

    /** Runs work in a transaction of its own, once. */
    public <T> T once(Work<T> work) throws SQLException {
        return once(work, connection -> {
            throw new SqlError(
                    "it needs a transaction of its own, and the data source gives the connection of a transaction that is"
                            + " open already; call it outside of that, or give Windlass a data source that knows no"
                            + " transactions",
                    OpenTransactions.TRANSACTION_OPEN);
        });
    }

    /** The same, which may be several statements, and waits for locks of others no longer than this. */
    public <T> T once(Duration lockPatience, Work<T> work) throws SQLException {
        return once(connection -> {
            connection.setAutoCommit(false);
            T result;
            try {
                dialect.limitLockWaits(connection, lockPatience);
                result = work.run(connection);
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                undo(connection, true, e);
                throw e;
            }
            connection.setAutoCommit(true);
            return result;
        });
    }

    private <T> T once(Work<T> work, Work<T> joined) throws SQLException {
        try (Connection connection = connect()) {
            if (transactions.has(connection)) {
                return joined.run(connection);
            }
            return manner.answerMillis() == 0 ? statements.run(connection, work) : runInTime(connection, work);
        } catch (SQLException e) {
            note(e);
            throw safe(e);
        } catch (RuntimeException e) {
            throw noted(e);
        }
    }

    /** Those of callers, which nothing here commits. */
    OpenTransactions transactions() {
        return transactions;
    }

    /**
     * Runs work in the caller's transaction, once.
     *
     * @throws IllegalStateException if the connection commits each statement by itself
     */
    public <T> T within(Connection connection, String what, Work<T> work) {
        return hearing(connection, what, callers -> {
            use();
            return work.run(callers);
        });
    }

    /**
     * The same for work that knows what its commit means: either it {@link #use uses} the transaction as others do, or it asks {@link
     * #whenEnded} to hear of its end.
     */
    public <T> T hearing(Connection connection, String what, Work<T> work) {
        Require.present("connection", connection);
        try {
            if (!manner.autoCommitAllowed() && connection.getAutoCommit()) {
                throw new IllegalStateException("[" + name() + "] could not " + what
                        + ": expected a connection in a transaction, got one with auto-commit on, which would commit this by"
                        + " itself; call setAutoCommit(false) before your change, or use the method without a connection"
                        + " (who means it sets WindlassOptions.withAutoCommitAllowed)");
            }
            return work.run(connection);
        } catch (SQLException e) {
            throw failure(what, e);
        }
    }

    /** The commit of the transaction that this thread is in, if it is in one, is to wake whoever waits for work. */
    public void use() throws SQLException {
        transactions.use();
    }

    /** Has a listener told how the transaction of this connection ends. Returns whether it will be: not if that is the caller's own business. */
    public boolean whenEnded(Connection connection, Consumer<TransactionEnd> listener) throws SQLException {
        return transactions.whenEnded(connection, listener);
    }

    private <T> T runInTime(Connection connection, Work<T> work) throws SQLException {
        calls.begin(connection);
        try {
            return statements.runWithin(manner.answerMillis(), connection, work);
        } finally {
            calls.ended(connection);
        }
    }

    /**
     * Runs work in the transaction that this thread is in; or, if it is in none, in one of its own, and again, a few times,
     * after a transient error. Only for work that is harmless to repeat when it is not known whether the first try was
     * committed.
     */
    public <T> T retrying(String what, Work<T> work) {
        return retrying(what, work, connection -> within(connection, what, work));
    }

    public <T> T retrying(String what, Work<T> own, Work<T> joined) {
        return retrying(what, own, Function.identity(), joined);
    }

    /**
     * The same with other work for the transaction that this thread is in, which runs {@link #within} it.
     *
     * @param committed what is done with the result of {@code own}, once it has been committed
     */
    public <T, R> R retrying(String what, Work<T> own, Function<T, R> committed, Work<R> joined) {
        Connection transaction = ofThread(what);
        if (transaction != null) {
            return repeating(what, () -> joined.run(transaction));
        }
        Supplier<R> done = repeating(
                what,
                () -> once(
                        connection -> {
                            T result = own.run(connection);
                            return () -> committed.apply(result);
                        },
                        connection -> {
                            R result = joined.run(connection);
                            return () -> result;
                        }));
        return done.get();
    }

    /** The same for what a caller adds; refused outside of a transaction, if callers mean to be in one. */
    public <T, R> R adding(String what, Work<T> own, Function<T, R> committed, Work<R> joined) {
        return retrying(
                what,
                connection -> {
                    if (manner.transactionRequired()) {
                        throw noTransaction();
                    }
                    return own.run(connection);
                },
                committed,
                joined);
    }

    private static SQLException noTransaction() {
        return new SqlError(
                "it is to be a part of a transaction, and this thread is in none; begin one (inTransaction, or that of your"
                        + " framework), name its connection, or allow it (WindlassOptions.withTransactionRequired)",
                TRANSACTION_REQUIRED);
    }

    private @Nullable Connection ofThread(String what) {
        try {
            return transactions.ofThread();
        } catch (SQLException e) {
            throw failure(what, e);
        }
    }

    /** The same always in a transaction of its own, committed when this returns; refused where that cannot be had. */
    public <T> T alone(String what, Work<T> work) {
        return repeating(what, () -> once(work));
    }

    private interface Try<T> {
        T run() throws SQLException;
    }

    private <T> T repeating(String what, Try<T> work) {
        long start = System.nanoTime();
        for (int attempt = 1; ; attempt++) {
            try {
                return work.run();
            } catch (SQLException e) {
                boolean last = attempt == manner.retries().maxAttempts() || System.nanoTime() - start > TRY_NANOS;
                if (last || !dialect.isTransient(e)) {
                    throw failure(what, e);
                }
                log.debug("[{}] {} failed, trying again: {}", name(), what, describe(e));
                pause(what, e, attempt);
            }
        }
    }

    private void pause(String what, SQLException cause, int attempt) {
        try {
            Thread.sleep(manner.retries().delay(attempt - 1).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(what, cause);
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

    /** The exception for callers of the public API. */
    public WindlassException failure(String what, SQLException e) {
        return new WindlassException("[" + name() + "] could not " + what + ": " + describe(e), safe(e));
    }

    /** Whether the database has said no: what was asked has not been done. */
    public boolean isRefusal(SQLException e) {
        return dialect.isAnswer(e)
                && !dialect.isLackOfMemory(e)
                && !SqlError.state(e).equals(COMPLETION_UNKNOWN);
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
        calls.breakOff(statements);
    }

    /** The same, and lets no further call begin. */
    public void end() {
        calls.end(statements);
    }

    /** Work on a connection that somebody else opens, commits and closes. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Connection connection) throws SQLException;
    }
}
