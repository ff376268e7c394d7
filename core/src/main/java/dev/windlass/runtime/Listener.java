package dev.windlass.runtime;

import dev.windlass.Deadline;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns notifications from other processes into wake-ups, on a connection of its own.
 *
 * <p>Proves itself with a notification to itself when it connects: behind a pooler that shares connections between
 * transactions, LISTEN succeeds and nothing ever arrives.
 *
 * <p>It lends its connection between two slices of waiting: nobody can take it away either.
 */
public final class Listener {
    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final int SLICE_MILLIS = 250;
    private static final int ANSWER_MILLIS = 5000;
    private static final long PROOF_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration RETRY_DEAF = Duration.ofMinutes(5);

    private final Database database;
    private final String channel;
    private final Consumer<String> heard;
    private final Consumer<Boolean> listening;
    private final Loop loop;
    /** Whoever uses the connection has it; fair, since the one who listens comes again at once. */
    private final ReentrantLock using = new ReentrantLock(true);

    private volatile @Nullable Connection connection;
    private volatile boolean stopped;
    private volatile Dialect.@Nullable Subscription subscription;
    private long lastCheck;
    private boolean deaf;
    private int timeoutBefore;
    private boolean autoCommitBefore = true;

    /**
     * @param heard gets the topic of each notification, or an empty text when some may have been missed
     * @param listening gets whether notifications arrive
     */
    public Listener(
            Database database, String channel, Workers workers, Consumer<String> heard, Consumer<Boolean> listening) {
        this.database = database;
        this.channel = channel;
        this.heard = heard;
        this.listening = listening;
        this.loop = new Loop("[" + database.name() + "] listening for wake-ups", workers, this::listen);
    }

    public void start() {
        loop.start();
    }

    private Duration listen() throws SQLException {
        try {
            if (subscription == null && !subscribe()) {
                return RETRY_DEAF;
            }
            check();
            await(subscription, heard);
            return Duration.ZERO;
        } catch (SQLException e) {
            database.note(e);
            listening.accept(false);
            close();
            throw database.safe(e);
        } catch (RuntimeException | LinkageError e) {
            listening.accept(false);
            close();
            throw e;
        } finally {
            if (stopped) {
                end();
            }
        }
    }

    private void await(Dialect.@Nullable Subscription open, Consumer<String> receiver) throws SQLException {
        using.lock();
        try {
            if (open != null) {
                open.await(SLICE_MILLIS, receiver);
            }
        } finally {
            using.unlock();
        }
    }

    /** Whether there is a connection to lend. */
    boolean canLend() {
        return subscription != null && !stopped;
    }

    /**
     * Runs work that is one statement on the connection that listens.
     *
     * @param patience how long to wait for it, and then for an answer
     */
    <T> T lend(Duration patience, Database.Work<T> work) throws SQLException {
        if (!lock(patience)) {
            throw new SQLException("the connection for notifications does not answer", "08006");
        }
        try {
            Connection open = connection;
            if (open == null || subscription == null) {
                throw new SQLException("there is no connection for notifications", "08003");
            }
            return database.transactWithin((int) patience.toMillis(), open, work);
        } finally {
            using.unlock();
        }
    }

    private boolean lock(Duration patience) throws SQLException {
        try {
            return using.tryLock(Math.max(patience.toMillis(), 2 * SLICE_MILLIS), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while waiting for a connection", "08001", e);
        }
    }

    private boolean subscribe() throws SQLException {
        Connection open = database.connect();
        connection = open;
        timeoutBefore = open.getNetworkTimeout();
        autoCommitBefore = open.getAutoCommit();
        open.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
        Dialect.Subscription opened = database.dialect().listen(open, channel);
        subscription = opened;
        lastCheck = System.nanoTime();
        boolean works = proves(open, opened);
        listening.accept(works);
        if (works) {
            log.debug("[{}] listening on channel {}", database.name(), channel);
            heard.accept("");
        } else {
            if (!deaf) {
                log.info(
                        "[{}] notifications do not arrive, as behind a transaction-mode pooler; polling every second"
                                + " instead (give a direct connection with backgroundDataSource)",
                        database.name());
            }
            end();
        }
        deaf = !works;
        return works;
    }

    private boolean proves(Connection open, Dialect.Subscription listener) throws SQLException {
        String proof = "proof " + UUID.randomUUID();
        database.dialect().send(open, channel, proof);
        boolean[] arrived = {false};
        long deadline = System.nanoTime() + PROOF_NANOS;
        while (!arrived[0] && System.nanoTime() - deadline < 0) {
            await(listener, message -> arrived[0] |= message.equals(proof));
        }
        return arrived[0];
    }

    /** A connection that died silently looks like one on which nothing happens. */
    private void check() throws SQLException {
        if (System.nanoTime() - lastCheck >= CHECK_NANOS) {
            lastCheck = System.nanoTime();
            Connection open = connection;
            if (open == null || !isValid(open)) {
                throw new SQLException("the connection for notifications is gone", "08006");
            }
        }
    }

    private boolean isValid(Connection open) throws SQLException {
        using.lock();
        try {
            return open.isValid(ANSWER_MILLIS / 1000);
        } finally {
            using.unlock();
        }
    }

    private void close() {
        using.lock();
        try {
            closeUsed();
        } finally {
            using.unlock();
        }
    }

    private void closeUsed() {
        Connection open = connection;
        connection = null;
        subscription = null;
        try {
            if (open != null) {
                open.setAutoCommit(autoCommitBefore);
                Database.giveBack(open, timeoutBefore);
            }
        } catch (SQLException e) {
            log.debug("[{}] closing the connection for notifications failed", database.name(), e);
        }
    }

    private void unsubscribe() {
        Dialect.Subscription open = subscription;
        try {
            if (open != null) {
                open.cancel();
            }
        } catch (SQLException e) {
            log.debug("[{}] ending the subscription failed", database.name(), e);
        }
    }

    private void end() {
        unsubscribe();
        close();
    }

    /** Listens no further; whoever comes last ends the subscription: {@link #awaitEnd}, or a step that waits for the database. */
    public void askToStop() {
        stopped = true;
        loop.askToStop();
    }

    public void awaitEnd(Deadline deadline) {
        if (loop.awaitEnd(deadline)) {
            end();
        } else {
            abort();
        }
    }

    /** Ends the connection, and with it a call that hangs. */
    public void abort() {
        Database.abort(connection);
    }
}
