package dev.windlass.base;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.Consumer;
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
     * nor closes it. Until it has been committed it is one: what a framework flushes at the commit is a part of it. Afterwards it is none any
     * more, also while listeners are called that still find the connection.
     */
    Optional<Connection> current() throws SQLException;

    /**
     * Tells how the transaction that this thread is in has ended, as soon as it has, on whatever thread. A listener takes no time and throws
     * nothing. The same one may be given many times in one transaction; then it need be told only once.
     *
     * <p>Whoever cannot tell of a rollback, or of a commit whose answer was lost, leaves that out. Then a message whose commit was not told
     * may be handled a lease later.
     */
    void whenEnded(Consumer<TransactionEnd> listener);

    /**
     * Runs work in a transaction that is begun for it, on a thread that is in none: commits when the work returns, and rolls back when it
     * throws. What the program does through its framework meanwhile is a part of the transaction, too. The work may also begin further
     * ones through it, or suspend this one; {@link #current} tells each time which one the thread is in.
     *
     * @throws X what the work throws
     */
    <T extends @Nullable Object, X extends Exception> T run(TransactionalWork<T, X> work) throws X;
}
