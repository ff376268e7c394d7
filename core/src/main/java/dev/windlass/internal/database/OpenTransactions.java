package dev.windlass.internal.database;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.TransactionEnd;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which threads and which connections are in a transaction that is the caller's: nobody else may commit it.
 *
 * <p>Thread-safe.
 */
final class OpenTransactions {
    /** As the standard has it. */
    static final String TRANSACTION_OPEN = "25001";

    private final Dialect dialect;

    /** Those of the framework around us, if there is one. */
    private final @Nullable AmbientTransactions ambient;

    /** What follows the commit of one of those. */
    private volatile Runnable afterCommit = () -> {};

    /** Always the same one, so that a framework can tell it once. */
    private final Consumer<TransactionEnd> used = this::ended;

    /** Whether connections come with auto-commit on, so that one without is in somebody's transaction. */
    private volatile boolean autoCommits;

    @SuppressWarnings("ThreadLocalUsage") // one for each database: a transaction of another does not count
    private final ThreadLocal<@Nullable Open> ofThread = new ThreadLocal<>();

    /** A transaction that this library begins and ends. */
    static final class Open {
        private final Connection connection;
        private final boolean tells;
        private final List<Consumer<TransactionEnd>> listeners = new ArrayList<>(0);
        private boolean used;

        private Open(Connection connection, boolean tells) {
            this.connection = connection;
            this.tells = tells;
        }

        /** Something of ours was called in it whose commit nobody has asked to hear of. */
        boolean wasUsed() {
            return used;
        }

        boolean isListenedTo() {
            return !listeners.isEmpty();
        }

        void ended(TransactionEnd end) {
            listeners.forEach(listener -> listener.accept(end));
        }
    }

    OpenTransactions(Dialect dialect, @Nullable AmbientTransactions ambient) {
        this.dialect = dialect;
        this.ambient = ambient;
    }

    void afterCommit(Runnable action) {
        afterCommit = action;
    }

    /** Null if there is no framework that has transactions. */
    @Nullable
    AmbientTransactions ambient() {
        return ambient;
    }

    /** The connection of the transaction that this thread has begun, here or in a framework, and not ended yet; null if there is none. */
    @Nullable
    Connection ofThread() throws SQLException {
        Open open = ofThread.get();
        if (open != null) {
            return open.connection;
        }
        return ambient == null ? null : ambient.current().orElse(null);
    }

    /**
     * This thread is in a transaction of ours from now on; where there is a framework, that knows by itself.
     *
     * @param tells whether we shall know how it ends
     */
    Open enter(Connection connection, boolean tells) {
        Open open = new Open(connection, tells);
        ofThread.set(open);
        return open;
    }

    /** This thread is in no transaction of ours any more. */
    void leave() {
        ofThread.remove();
    }

    /** Something of ours is called in the transaction of this thread, if it is in one; its commit is to wake whoever waits for work. */
    void use() throws SQLException {
        Open open = ofThread.get();
        if (open != null) {
            open.used = true;
        } else if (ambient != null && ambient.current().isPresent()) {
            ambient.whenEnded(used);
        }
    }

    private void ended(TransactionEnd end) {
        if (end != TransactionEnd.ROLLED_BACK) {
            afterCommit.run();
        }
    }

    /** Has a listener told how the transaction of this connection ends. Returns whether it will be told. */
    boolean whenEnded(Connection connection, Consumer<TransactionEnd> listener) throws SQLException {
        Open open = ofThread.get();
        if (open != null) {
            return open.connection == connection && open.tells && open.listeners.add(listener);
        }
        if (ambient == null || ambient.current().orElse(null) != connection) {
            return false;
        }
        ambient.whenEnded(listener);
        return true;
    }

    /**
     * Whether a borrowed connection is in a transaction, as those of a data source that follows a transaction manager are. Some
     * pools give all their connections out with auto-commit off. Then it cannot be told from the setting alone, and what may be in
     * a transaction is refused.
     */
    boolean has(Connection connection) throws SQLException {
        if (connection.getAutoCommit()) {
            autoCommits = true;
            return false;
        }
        if (!autoCommits && (dialect.isInTransaction(connection) || followsTransactions(connection))) {
            throw new SqlError(
                    "it cannot tell whether a connection with auto-commit off is in a transaction of yours; give Windlass the"
                            + " pool itself, or let the pool give out connections with auto-commit on",
                    TRANSACTION_OPEN);
        }
        return autoCommits;
    }

    /** Spring's proxies have this interface; Spring is no dependency of this library. */
    private static boolean followsTransactions(Connection connection) {
        return Stream.of(connection.getClass().getInterfaces())
                .anyMatch(type -> type.getName().equals("org.springframework.jdbc.datasource.ConnectionProxy"));
    }
}
