package dev.windlass.internal.loop;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.database.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one connection that a node keeps, for all its features: leases are renewed on it, and {@link Signals} arrive on it. Handlers
 * that use up the pool cannot take it away.
 *
 * <p>It is opened when it is needed first, and given back when nobody uses it any more. If it breaks, another is asked for on a
 * thread of its own: a pool that has none may hold whoever asks for longer than a lease. Thread-safe; calls follow each other in
 * the order they came.
 */
public final class KeptConnection {
    private static final Logger log = LoggerFactory.getLogger(KeptConnection.class);

    /** How long somebody who listens keeps others waiting, at most. */
    static final Duration SLICE = Duration.ofMillis(50);

    /** It may be given back because it does not answer. */
    private static final int LAST_ANSWER_MILLIS = 250;

    private static final int SHORTEST_ANSWER_MILLIS = 250;

    private final Database database;
    private final Workers workers;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition changed = lock.newCondition();
    /** With the longest answer that each can afford to wait for: nobody holds it for longer. */
    private final Map<Object, Duration> users = new ConcurrentHashMap<>();

    /** Those that began, and those that ended. */
    private volatile long calls;

    private volatile @Nullable Connection connection;
    private volatile boolean stopped;
    private volatile boolean allowed = true;
    private boolean asked;
    private @Nullable Exception refusal;
    private int timeoutBefore;
    private boolean autoCommitBefore;

    public KeptConnection(Database database, Workers workers) {
        this.database = database;
        this.workers = workers;
    }

    /**
     * Keeps it open until this user leaves.
     *
     * @param answer how long the call of another may take, at most
     */
    public void use(Object user, Duration answer) {
        users.put(user, answer);
    }

    public void leave(Object user) {
        if (users.remove(user) != null && users.isEmpty()) {
            close();
        }
    }

    /** Gives it back. Who needs it opens it again. */
    private void close() {
        lock.lock();
        try {
            discard();
        } finally {
            lock.unlock();
        }
    }

    /** Whether it may be there. If not, it is given back, and so is one that somebody is just opening. */
    void allow(boolean allowed) {
        this.allowed = allowed;
        if (!allowed) {
            close();
        }
    }

    /**
     * Waits until it is there.
     *
     * @throws SQLException if it is not there within this time
     */
    public void await(Duration patience) throws SQLException {
        if (connection != null) {
            return; // without waiting for whoever uses it now
        }
        lock(patience);
        try {
            long left = patience.toNanos();
            ask();
            while (connection == null && asked && left > 0) {
                left = changed.awaitNanos(left);
            }
            if (connection == null) {
                throw noConnection(patience);
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        } finally {
            lock.unlock();
        }
    }

    private void lock(Duration patience) throws SQLException {
        try {
            Duration slices = SLICE.multipliedBy(4);
            Duration most = patience.compareTo(slices) < 0 ? slices : patience;
            if (!lock.tryLock(most.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new SQLException("the kept connection does not answer", "08006");
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static SQLException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new SQLException("interrupted while waiting for a connection", "08001", e);
    }

    private SQLException noConnection(Duration patience) {
        if (!allowed) {
            return givenBack();
        }
        if (refusal instanceof SQLException sql) {
            return sql;
        }
        return refusal == null
                ? new PoolTimeout(new SQLTimeoutException(), patience, "for the kept connection")
                : new SQLException("there is no kept connection", "08001", refusal);
    }

    /** Which tells nothing of the database. */
    private static SQLException givenBack() {
        return new SQLException("there is no kept connection", "08003");
    }

    public boolean isThere() {
        return connection != null;
    }

    private void ask() {
        if (connection != null || asked || stopped || !allowed) {
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
            autoCommitBefore = opened.getAutoCommit();
            opened.setAutoCommit(true);
            return opened;
        } catch (SQLException | RuntimeException e) {
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
            if (stopped || !allowed || users.isEmpty()) {
                discard();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs work that is one statement on it, if it is there, as {@link #await} tells.
     *
     * @param answer after which time without an answer it is given up; sooner, if another user cannot wait for so long
     */
    public <T> T call(Duration answer, Database.Work<T> work) throws SQLException {
        int millis = answerMillis(answer);
        return hold(answer, open -> {
            count();
            try {
                return database.statements().runCancelling(millis, open, work);
            } finally {
                count();
            }
        });
    }

    /** Grows when a call begins, and when it ends: none has been under way since then if it is the same. */
    long calls() {
        return calls;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // whoever calls has the lock
    private void count() {
        calls++;
    }

    /** The same for what proves nothing about the database, as to wait for signals. */
    <T> T hold(Duration answer, Database.Work<T> work) throws SQLException {
        lock(answer);
        try {
            Connection open = connection;
            if (open == null) {
                throw database.safe(givenBack()); // whoever lost it has told why
            }
            return run(open, answer, work);
        } finally {
            if (stopped) {
                discard();
            }
            lock.unlock();
        }
    }

    private <T> T run(Connection open, Duration answer, Database.Work<T> work) throws SQLException {
        try {
            open.setNetworkTimeout(Runnable::run, answerMillis(answer));
            return work.run(open);
        } catch (SQLException e) {
            database.note(e);
            if (database.dialect().isOutage(e) || !database.dialect().isTransient(e) || open.isClosed()) {
                discard(); // a deadlock costs the call, not the connection, which the pool may be unable to replace
            }
            throw database.safe(e);
        }
    }

    private int answerMillis(Duration answer) {
        long millis = answer.toMillis();
        for (Duration each : users.values()) {
            millis = Math.min(millis, each.toMillis());
        }
        return (int) Math.max(SHORTEST_ANSWER_MILLIS, millis);
    }

    private void discard() {
        Connection open = connection;
        connection = null;
        if (open == null) {
            return;
        }
        try (open) {
            clean(open);
        } catch (SQLException e) {
            log.debug("[{}] giving back the kept connection failed", database.name(), e);
        }
    }

    /** One that cannot be cleaned must not be used by others, who would find it listening. */
    private void clean(Connection open) {
        try {
            open.setNetworkTimeout(Runnable::run, LAST_ANSWER_MILLIS);
            database.dialect().endListening(open);
            open.setAutoCommit(autoCommitBefore);
            open.setNetworkTimeout(Runnable::run, timeoutBefore); // not every pool resets it
        } catch (SQLException e) {
            log.debug("[{}] the kept connection could not be cleaned", database.name(), e);
            Statements.abort(open);
        }
    }

    /** Does not wait for a database that does not answer: a call that hangs loses its connection. */
    public void stop() {
        stopped = true;
        if (lock.tryLock()) {
            try {
                discard();
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        } else {
            Connection hangs = connection;
            database.statements().breakOff(hangs == null ? List.of() : List.of(hangs));
        }
    }
}
