package dev.windlass.base;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The transactions of the framework that a program lives in, such as Spring, Quarkus, Micronaut, Hibernate or jOOQ. With them, what is
 * written through Windlass joins the transaction that the calling thread is in, without naming its connection.
 *
 * <p>All methods are called on the thread of the caller. They speak of transactions of the data source that Windlass was given, and of no
 * other: a message that joins the transaction of another database would be lost or sent too early.
 */
public interface AmbientTransactions {

    /**
     * The connection of the transaction that this thread is in; empty, if it is in none. Windlass uses it at once, and neither commits
     * nor closes it.
     */
    Optional<Connection> current() throws SQLException;

    /**
     * Has something done as soon as the transaction that this thread is in has been committed, and not at all if it is rolled back. It
     * takes no time and throws nothing. The same may be asked for many times in one transaction; then it need be done only once.
     */
    void afterCommit(Runnable action);

    /**
     * Runs work in a transaction that is begun for it, on a thread that is in none: commits when the work returns, and rolls back when it
     * throws. What the program does through its framework meanwhile is a part of the transaction, too.
     *
     * @throws X what the work throws
     */
    <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work) throws X;
}
