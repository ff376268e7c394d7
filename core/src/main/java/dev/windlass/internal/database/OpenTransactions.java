package dev.windlass.internal.database;

import dev.windlass.base.AmbientTransactions;
import java.sql.Connection;
import java.sql.SQLException;
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

    /** Whether connections come with auto-commit on, so that one without is in somebody's transaction. */
    private volatile boolean autoCommits;

    @SuppressWarnings("ThreadLocalUsage") // one for each database: a transaction of another does not count
    private final ThreadLocal<@Nullable Open> ofThread = new ThreadLocal<>();

    private static final class Open {
        final Connection connection;
        boolean used;

        Open(Connection connection) {
            this.connection = connection;
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

    /** This thread is in a transaction from now on. */
    void enter(Connection connection) {
        ofThread.set(new Open(connection));
    }

    /** Something of ours is called in the transaction of this thread, if it is in one. */
    void use() throws SQLException {
        Open open = ofThread.get();
        if (open != null) {
            open.used = true;
        } else if (ambient != null && ambient.current().isPresent()) {
            ambient.afterCommit(afterCommit);
        }
    }

    /** This thread is in no transaction any more. Returns whether something of ours was called in it. */
    boolean leave() {
        Open open = ofThread.get();
        ofThread.remove();
        return open != null && open.used;
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
