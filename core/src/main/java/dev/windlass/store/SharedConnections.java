package dev.windlass.store;

import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.Require;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A pool for many databases with one bound for all: a server has one limit of connections, however many databases it has. A
 * connection that nobody uses makes room for one to another database.
 *
 * <pre>{@code
 * var connections = SharedConnections.atMost(50);
 * Store.of("tenant-42", connections.to(dataSourceOfTenant42));
 * }</pre>
 *
 * <p>For one database, take one of the usual pools: they do more. Thread-safe.
 */
public final class SharedConnections implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** One that was used a moment ago is not asked whether it is alive. */
    private static final long TRUSTED_NANOS = Duration.ofMillis(500).toNanos();

    private static final long IDLE_NANOS = Duration.ofMinutes(1).toNanos();
    private static final int VALID_SECONDS = 5;

    /** Whoever calls one of these leaves something behind; such a connection is not used again. */
    private static final Set<String> LEAVE_TRACES = Set.of(
            "setTransactionIsolation",
            "setReadOnly",
            "setCatalog",
            "setSchema",
            "setHoldability",
            "setTypeMap",
            "setClientInfo");

    private final int most;
    /** The one that was used last comes last. */
    private final Deque<Idle> idle = new ArrayDeque<>();

    private int open;
    private boolean closed;

    /**
     * @param timeout the network time-out that its data source gave it
     */
    private record Idle(DataSource source, Connection connection, int timeout, long since) {}

    private SharedConnections(int most) {
        this.most = most;
    }

    /**
     * A pool of so many connections at most, over all databases.
     *
     * @param most more than handlers and the fleet need at once: the stores that keep one, and the claims under way, and some
     */
    public static SharedConnections atMost(int most) {
        return new SharedConnections(Require.positive("number of connections", most));
    }

    /**
     * A data source with the connections of this one, from this pool. It is an {@link AutoCloseable}, which closes those that nobody
     * uses, as a {@link Store#opening} does when the store is gone.
     *
     * @param source opens a connection each time, as a driver's own data source does
     */
    public DataSource to(DataSource source) {
        Require.present("data source", source);
        return (DataSource) Proxy.newProxyInstance(
                SharedConnections.class.getClassLoader(),
                new Class<?>[] {DataSource.class, AutoCloseable.class},
                new Pooled(source));
    }

    /** Two of this pool with the same source are equal, so that a store described anew is the same. */
    private final class Pooled implements InvocationHandler {
        private final DataSource source;

        Pooled(DataSource source) {
            this.source = source;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            switch (method.getName()) {
                case "getConnection" -> {
                    if (arguments != null) {
                        throw new SQLFeatureNotSupportedException("give the user and the password to the data source");
                    }
                    return borrow(source);
                }
                case "close" -> {
                    closeIdle(source);
                    return null;
                }
                case "equals" -> {
                    return arguments != null && arguments[0] != null && isSame(arguments[0]);
                }
                default -> {
                    return call(source, method, arguments);
                }
            }
        }

        private boolean isSame(Object other) {
            return Proxy.isProxyClass(other.getClass())
                    && Proxy.getInvocationHandler(other) instanceof Pooled pooled
                    && pooled.isOf(SharedConnections.this)
                    && pooled.source.equals(source);
        }

        private boolean isOf(SharedConnections pool) {
            return SharedConnections.this == pool;
        }
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** How many connections are open, used or not. */
    public synchronized int open() {
        return open;
    }

    private Connection borrow(DataSource source) throws SQLException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        for (Idle found; (found = take(source, until)) != null; ) {
            if (found.source == source && isAlive(found)) {
                return lent(source, found.connection, found.timeout);
            }
            closeQuietly(found.connection);
            if (found.source != source) {
                break; // it has made room
            }
            forget();
        }
        try {
            return opened(source);
        } catch (SQLException | RuntimeException | Error e) {
            forget();
            throw e;
        }
    }

    private Connection opened(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        try {
            return lent(source, connection, connection.getNetworkTimeout());
        } catch (SQLException | RuntimeException | Error e) {
            closeQuietly(connection);
            throw e;
        }
    }

    /** One to this database; or one to another, which is to be closed; or null, if there is room for one more. It counts as open. */
    private synchronized @Nullable Idle take(DataSource source, long until) throws SQLException {
        while (true) {
            if (closed) {
                throw new SQLException("these connections have been closed", "08003");
            }
            for (Iterator<Idle> each = idle.descendingIterator(); each.hasNext(); ) {
                Idle found = each.next();
                if (found.source == source) {
                    each.remove();
                    return found;
                }
            }
            if (open < most) {
                open++;
                return null;
            }
            if (!idle.isEmpty()) {
                return idle.removeFirst();
            }
            await(until);
        }
    }

    @SuppressWarnings("WaitNotInLoop") // whoever calls it looks again
    private void await(long until) throws SQLException {
        long left = Duration.ofNanos(until - System.nanoTime()).toMillis();
        if (left <= 0) {
            throw new SQLTransientConnectionException(
                    "all " + most + " connections were in use for " + InWords.of(PATIENCE));
        }
        try {
            wait(left);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while waiting for a connection", "08001", e);
        }
    }

    private static boolean isAlive(Idle idle) {
        try {
            return System.nanoTime() - idle.since < TRUSTED_NANOS || idle.connection.isValid(VALID_SECONDS);
        } catch (SQLException e) {
            return false;
        }
    }

    private synchronized void forget() {
        open--;
        notifyAll();
    }

    private void giveBack(DataSource source, Connection connection, int timeout, boolean reusable) {
        List<Connection> old = new ArrayList<>();
        boolean kept = false;
        if (reusable && isClean(connection, timeout)) {
            synchronized (this) {
                if (!closed) {
                    long now = System.nanoTime();
                    idle.addLast(new Idle(source, connection, timeout, now));
                    kept = true;
                    while (now - idle.getFirst().since > IDLE_NANOS) {
                        old.add(idle.removeFirst().connection);
                        open--;
                    }
                    notifyAll();
                }
            }
        }
        if (!kept) {
            closeQuietly(connection);
            forget();
        }
        old.forEach(SharedConnections::closeQuietly);
    }

    private static boolean isClean(Connection connection, int timeout) {
        try {
            if (connection.isClosed()) {
                return false;
            }
            if (!connection.getAutoCommit()) {
                connection.rollback();
                connection.setAutoCommit(true);
            }
            connection.clearWarnings();
            connection.setNetworkTimeout(Runnable::run, timeout);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private static void closeQuietly(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            // it is gone either way
        }
    }

    /** Nobody needs this database any more, for now. */
    private void closeIdle(DataSource source) {
        List<Idle> gone;
        synchronized (this) {
            gone = idle.stream().filter(each -> each.source == source).toList();
            idle.removeAll(gone);
        }
        for (Idle each : gone) {
            closeQuietly(each.connection);
            forget();
        }
    }

    /** Closes what nobody uses; what is used is closed when it is given back. */
    @Override
    public void close() {
        List<Idle> all;
        synchronized (this) {
            closed = true;
            all = List.copyOf(idle);
            open -= idle.size();
            idle.clear();
            notifyAll();
        }
        all.forEach(each -> closeQuietly(each.connection));
    }

    private Connection lent(DataSource source, Connection connection, int timeout) {
        return (Connection) Proxy.newProxyInstance(
                SharedConnections.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                new Lent(source, connection, timeout));
    }

    /** A connection until it is given back. */
    private final class Lent implements InvocationHandler {
        private final DataSource source;
        private final Connection connection;
        private final int timeout;
        private boolean reusable = true;
        private boolean returned;

        Lent(DataSource source, Connection connection, int timeout) {
            this.source = source;
            this.connection = connection;
            this.timeout = timeout;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            switch (method.getName()) {
                case "close" -> {
                    end();
                    return null;
                }
                case "isClosed" -> {
                    return isReturned() || connection.isClosed();
                }
                case "equals" -> {
                    return arguments != null && arguments[0] == proxy;
                }
                case "hashCode" -> {
                    return System.identityHashCode(proxy);
                }
                case "abort" -> notReusable();
                default -> {
                    if (isReturned()) {
                        throw new SQLException("this connection has been closed", "08003");
                    }
                    if (LEAVE_TRACES.contains(method.getName())) {
                        notReusable();
                    }
                }
            }
            return call(connection, method, arguments);
        }

        private synchronized boolean isReturned() {
            return returned;
        }

        private synchronized void notReusable() {
            reusable = false;
        }

        private void end() {
            boolean clean;
            synchronized (this) {
                if (returned) {
                    return;
                }
                returned = true;
                clean = reusable;
            }
            giveBack(source, connection, timeout, clean);
        }
    }
}
