package dev.windlass.runtime;

import dev.windlass.Windlass.TransactionalWork;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Transactions around pieces of the caller's work: committed when it returns, rolled back when it throws. Knows which threads
 * are in one.
 */
public final class Transactions {
    private final Database database;
    private final Runnable afterCommit;

    @SuppressWarnings("ThreadLocalUsage") // one for each database: a transaction of another does not count
    private final ThreadLocal<Integer> open = ThreadLocal.withInitial(() -> 0);

    public Transactions(Database database, Runnable afterCommit) {
        this.database = database;
        this.afterCommit = afterCommit;
    }

    public <T extends @Nullable Object> T run(TransactionalWork<T> work) throws Exception {
        T result;
        open.set(open.get() + 1);
        try {
            result = transact(work);
        } finally {
            close();
        }
        afterCommit.run();
        return result;
    }

    private <T extends @Nullable Object> T transact(TransactionalWork<T> work) throws Exception {
        try (Connection connection = database.connect()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            T result;
            try {
                result = work.run(connection);
                commit(connection);
            } catch (Throwable e) {
                database.undo(connection, autoCommit, e);
                throw e;
            }
            connection.setAutoCommit(autoCommit);
            return result;
        }
    }

    /** The user's own statements speak for themselves; a commit may tell of Windlass's rows as well. */
    private void commit(Connection connection) throws SQLException {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw database.safe(e);
        }
    }

    private void close() {
        int left = open.get() - 1;
        if (left == 0) {
            open.remove();
        } else {
            open.set(left);
        }
    }

    /** Whether this thread is in a transaction that was begun here. */
    public boolean areOpenHere() {
        boolean here = open.get() > 0;
        if (!here) {
            open.remove();
        }
        return here;
    }
}
