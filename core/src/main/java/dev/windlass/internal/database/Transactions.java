package dev.windlass.internal.database;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.TransactionEnd;
import dev.windlass.base.TransactionalWork;
import dev.windlass.base.WindlassException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import org.jspecify.annotations.Nullable;

/**
 * Transactions around pieces of the caller's work: committed when it returns, rolled back when it throws. A piece inside of
 * another, or of a transaction that the data source knows of, is a part of it.
 */
public final class Transactions {
    private final Database database;
    private final Runnable afterCommit;

    public Transactions(Database database, Runnable afterCommit) {
        this.database = database;
        this.afterCommit = afterCommit;
        database.transactions().afterCommit(afterCommit);
    }

    public <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work) throws X {
        return run(work, true);
    }

    /** The same for a handler: if nothing of ours is called in it, nobody is told of its commit, as there may be thousands a second. */
    public <T extends @Nullable Object, X extends Exception> T runForHandler(TransactionalWork<T, X> work) throws X {
        return run(work, false);
    }

    private <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work, boolean told)
            throws X {
        Connection open = ofThread();
        if (open != null) {
            return part(open, work);
        }
        AmbientTransactions ambient = database.transactions().ambient();
        return ambient == null ? whole(work, told) : whole(ambient, work, told);
    }

    private @Nullable Connection ofThread() {
        try {
            return database.transactions().ofThread();
        } catch (SQLException e) {
            throw database.failure("find the transaction of the caller", e);
        }
    }

    /** The framework tells what the thread is in, each time: work may begin another of its transactions, or suspend this one. */
    private <T extends @Nullable Object, X extends Exception> T whole(
            AmbientTransactions ambient, TransactionalWork<T, X> work, boolean told) throws X {
        T result = ambient.run(work);
        if (told) {
            afterCommit.run();
        }
        return result;
    }

    private <T extends @Nullable Object, X extends Exception> T whole(TransactionalWork<T, X> work, boolean told)
            throws X {
        try (Borrowed borrowed = new Borrowed()) {
            OpenTransactions.Open open = database.transactions().enter(borrowed.connection, !borrowed.isCallers);
            T result;
            try {
                if (borrowed.isCallers) {
                    return part(borrowed.connection, work);
                }
                result = work.run(borrowed.connection);
            } catch (Throwable e) {
                try {
                    borrowed.undo(e);
                } finally {
                    open.ended(TransactionEnd.ROLLED_BACK);
                }
                throw e;
            } finally {
                database.transactions().leave();
            }
            borrowed.commit(open);
            if (open.wasUsed() || (told && !open.isListenedTo())) {
                afterCommit.run();
            }
            return result;
        }
    }

    /** What it did is undone if it throws, also if whoever is around it goes on. */
    private <T extends @Nullable Object, X extends Exception> T part(
            Connection connection, TransactionalWork<T, X> work) throws X {
        Savepoint before = savepoint(connection);
        try {
            T result = work.run(connection);
            release(connection, before);
            return result;
        } catch (Throwable e) {
            rollBack(connection, before, e);
            throw e;
        }
    }

    private Savepoint savepoint(Connection connection) {
        try {
            return connection.setSavepoint();
        } catch (SQLException e) {
            throw database.failure("begin a part of a transaction", e);
        }
    }

    /**
     * The server gets slower and larger with each one that is left open. It is refused to a part that has met an error and not
     * said so: what it did is lost, and who is around it learns that now.
     */
    private void release(Connection connection, Savepoint before) {
        try {
            connection.releaseSavepoint(before);
        } catch (SQLException e) {
            throw database.failure("end a part of a transaction", e);
        }
    }

    private void rollBack(Connection connection, Savepoint before, Throwable cause) {
        try {
            connection.rollback(before);
        } catch (SQLException e) {
            cause.addSuppressed(database.safe(e));
        }
    }

    /** A connection for one transaction. */
    private final class Borrowed implements AutoCloseable {
        private final Connection connection;
        private final boolean isCallers;
        private boolean autoCommit;

        Borrowed() {
            try {
                connection = database.connect();
            } catch (SQLException e) {
                throw database.failure("begin a transaction", e);
            }
            try {
                isCallers = database.transactions().has(connection);
                if (!isCallers) {
                    autoCommit = connection.getAutoCommit();
                    connection.setAutoCommit(false);
                }
            } catch (SQLException e) {
                close();
                throw database.failure("begin a transaction", e);
            }
        }

        void commit(OpenTransactions.Open open) {
            TransactionEnd end = TransactionEnd.UNKNOWN;
            try {
                connection.commit();
                end = TransactionEnd.COMMITTED;
            } catch (SQLException e) {
                end = database.isRefusal(e) ? TransactionEnd.ROLLED_BACK : end;
                throw failed(e);
            } finally {
                open.ended(end);
            }
            try {
                connection.setAutoCommit(autoCommit);
            } catch (SQLException e) {
                throw failed(e);
            }
        }

        /** The user's own statements speak for themselves; a commit may tell of Windlass's rows as well. */
        private WindlassException failed(SQLException e) {
            WindlassException failure = database.failure("commit", e);
            undo(failure);
            return failure;
        }

        void undo(Throwable cause) {
            if (!isCallers) {
                database.undo(connection, autoCommit, cause);
            }
        }

        @Override
        public void close() {
            try {
                connection.close();
            } catch (SQLException e) {
                database.note(e);
            }
        }
    }

    /** Whether this thread is in a transaction that was begun here, or in the framework around us. */
    public boolean areOpenHere() {
        return ofThread() != null;
    }
}
