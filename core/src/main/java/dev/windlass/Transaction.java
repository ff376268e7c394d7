package dev.windlass;

import dev.windlass.runtime.Database;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** A transaction around a piece of the caller's work: committed when it returns, rolled back when it throws. */
final class Transaction {

    private Transaction() {}

    static <T extends @Nullable Object> T run(
            Database database, Windlass.TransactionalWork<T> work, Runnable afterCommit) throws Exception {
        T result;
        try (Connection connection = database.connect()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            try {
                result = work.run(connection);
                connection.commit();
            } catch (Throwable e) {
                Database.undo(connection, autoCommit, e);
                throw e;
            }
            connection.setAutoCommit(autoCommit);
        }
        afterCommit.run();
        return result;
    }
}
