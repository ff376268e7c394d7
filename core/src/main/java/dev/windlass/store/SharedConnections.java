package dev.windlass.store;

import dev.windlass.internal.database.Login;
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
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A pool for many databases with one bound for all: a server has one limit of connections, however many databases it has. A
 * connection that nobody uses makes room for one to another database.
 *
 * <p>One database gets a part of them only, so that one that is locked or silent does not take all. A login that is not answered for
 * ten seconds is given up, and takes the place of nobody else any more.
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
    private static final int CLEAN_MILLIS = 5000;

    /** One database gets a fourth of all connections, but one to work with beside one that is kept. */
    private static final int PARTS = 4;

    private static final int SMALLEST_PART = 2;

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
    private final int mostOfOne;
    private final int leftToOthers;
    private final IdentityHashMap<DataSource, Origin> origins = new IdentityHashMap<>();
    /** The one that was used last comes last. */
    private final Deque<Idle> idle = new ArrayDeque<>();

    private int open;
    private int lent;
    private boolean closed;

    /**
     * @param timeout the network time-out that its data source gave it
     */
    private record Idle(DataSource source, Connection connection, int timeout, long since) {}

    private SharedConnections(int most, int mostOfOne, int leftToOthers) {
        this.leftToOthers = leftToOthers;
        this.most = Require.positive("number of connections", most);
        this.mostOfOne = Math.min(most, Require.positive("number of connections of one database", mostOfOne));
    }

    /**
     * A pool of so many connections at most, over all databases; one of them gets a fourth of these, and more only while another fourth
     * is left to others. So schemas of one database, which share what it gets, have most of them.
     *
     * @param most more than handlers and the fleet need at once: the stores that keep one, and the claims under way, and some
     */
    public static SharedConnections atMost(int most) {
        int part = (most + PARTS - 1) / PARTS;
        return new SharedConnections(most, Math.max(SMALLEST_PART, part), part);
    }

    /**
     * The same with no more than this for one database.
     *
     * @param mostOfOne more than its handlers use at once, by some
     */
    public static SharedConnections atMost(int most, int mostOfOne) {
        return new SharedConnections(most, mostOfOne, most);
    }

    /**
     * A data source with the connections of this one, from this pool. It is an {@link AutoCloseable}, which closes those that nobody
     * uses, and the others when they are given back, as a {@link Store#opening} does when the store is gone.
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
        /** How often it has been closed; it may be used again after that. */
        private final AtomicInteger closings = new AtomicInteger();

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
                    return borrow(this);
                }
                case "close" -> {
                    closeIdle(this);
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

    private Connection borrow(Pooled to) throws SQLException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        Origin origin = enter(to.source, until);
        try {
            return lent(to, origin, until);
        } catch (SQLException | RuntimeException | Error e) {
            leave(origin);
            throw e;
        }
    }

    /** One more of this database is used from now on, or waited for. */
    private synchronized Origin enter(DataSource source, long until) throws SQLException {
        Origin origin = origins.computeIfAbsent(source, Origin::new);
        while (origin.lent >= mostOfOne && lent >= most - leftToOthers) {
            await(until, "all " + origin.lent + " connections that one database can have");
            origin = origins.computeIfAbsent(source, Origin::new);
        }
        origin.lent++;
        lent++;
        return origin;
    }

    private synchronized void leave(Origin origin) {
        origin.lent--;
        lent--;
        forgetIfQuiet(origin);
        notifyAll();
    }

    private void forgetIfQuiet(Origin origin) {
        if (origin.isQuiet()) {
            origins.remove(origin.source);
        }
    }

    private Connection lent(Pooled to, Origin origin, long until) throws SQLException {
        for (Idle found; (found = take(origin, until)) != null; ) {
            if (found.source == origin.source && isAlive(found)) {
                return lent(to, origin, found.connection, found.timeout);
            }
            closeQuietly(found.connection);
            if (found.source != origin.source) {
                break; // it has made room
            }
            forget();
        }
        try {
            return opened(to, origin);
        } catch (SQLException | RuntimeException | Error e) {
            forget();
            throw e;
        }
    }

    private Connection opened(Pooled to, Origin origin) throws SQLException {
        Connection connection = login(origin);
        try {
            return lent(to, origin, connection, connection.getNetworkTimeout());
        } catch (SQLException | RuntimeException | Error e) {
            closeQuietly(connection);
            throw e;
        }
    }

    private Connection login(Origin origin) throws SQLException {
        Login login = Login.by(origin.source::getConnection);
        try {
            return login.await(Origin.LONGEST_LOGIN);
        } catch (Login.Unanswered e) {
            synchronized (this) {
                origin.logins.oneHangs(System.nanoTime());
            }
            login.whenItEnds(late -> hangsNoMore(origin, late));
            throw e;
        }
    }

    private void hangsNoMore(Origin origin, @Nullable Connection late) {
        if (late != null) {
            closeQuietly(late);
        }
        synchronized (this) {
            origin.logins.oneHasEnded(System.nanoTime());
            forgetIfQuiet(origin);
        }
    }

    /** One to this database; or one to another, which is to be closed; or null, if there is room for one more. It counts as open. */
    private synchronized @Nullable Idle take(Origin origin, long until) throws SQLException {
        while (true) {
            if (closed) {
                throw new SQLException("these connections have been closed", "08003");
            }
            for (Iterator<Idle> each = idle.descendingIterator(); each.hasNext(); ) {
                Idle found = each.next();
                if (found.source == origin.source) {
                    each.remove();
                    return found;
                }
            }
            if (!origin.logins.mayLogIn(System.nanoTime())) {
                throw new SQLTransientConnectionException(
                        "the server does not answer logins; the next is tried later", Login.CANNOT_CONNECT);
            }
            if (open < most) {
                open++;
                return null;
            }
            if (!idle.isEmpty()) {
                return idle.removeFirst();
            }
            await(until, "all " + most + " connections");
        }
    }

    @SuppressWarnings("WaitNotInLoop") // whoever calls it looks again
    private void await(long until, String what) throws SQLException {
        long left = Duration.ofNanos(until - System.nanoTime()).toMillis();
        if (left <= 0) {
            throw new SQLTransientConnectionException(what + " were in use for " + InWords.of(PATIENCE));
        }
        try {
            wait(left);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while waiting for a connection", Login.CANNOT_CONNECT, e);
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

    private void giveBack(Lent lent, boolean reusable) {
        DataSource source = lent.origin.source;
        Connection connection = lent.connection;
        int timeout = lent.timeout;
        List<Connection> old = new ArrayList<>();
        boolean kept = false;
        if (reusable && isClean(connection, timeout)) {
            synchronized (this) {
                if (!closed && !lent.isOfClosed()) {
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
        leave(lent.origin);
        old.forEach(SharedConnections::closeQuietly);
    }

    private static boolean isClean(Connection connection, int timeout) {
        try {
            if (connection.isClosed()) {
                return false;
            }
            if (!connection.getAutoCommit()) {
                connection.setNetworkTimeout(Runnable::run, CLEAN_MILLIS); // it may have fallen silent
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
    private void closeIdle(Pooled pooled) {
        List<Idle> gone;
        synchronized (this) {
            pooled.closings.incrementAndGet();
            gone = idle.stream().filter(each -> each.source == pooled.source).toList();
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

    private Connection lent(Pooled to, Origin origin, Connection connection, int timeout) {
        return (Connection) Proxy.newProxyInstance(
                SharedConnections.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                new Lent(to, origin, connection, timeout));
    }

    /** A connection until it is given back. */
    private final class Lent implements InvocationHandler {
        private final Pooled to;
        private final int closingsBefore;
        private final Origin origin;
        private final Connection connection;
        private final int timeout;
        private boolean reusable = true;
        private boolean returned;

        Lent(Pooled to, Origin origin, Connection connection, int timeout) {
            this.to = to;
            this.closingsBefore = to.closings.get();
            this.origin = origin;
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

        /** Whether its data source has been closed since. */
        private boolean isOfClosed() {
            return to.closings.get() != closingsBefore;
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
            giveBack(this, clean);
        }
    }
}
