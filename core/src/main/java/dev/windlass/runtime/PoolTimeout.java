package dev.windlass.runtime;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Optional;

/**
 * The pool had no connection to give within its patience. Trying again may help; but the database need not be away, as it is when
 * a connection cannot be made: then there is an SQLSTATE.
 */
public final class PoolTimeout extends SqlError {
    private static final long serialVersionUID = 1L;
    private static final int DEEP = 10;

    PoolTimeout(SQLException original, Duration waited, String said) {
        super(
                "no connection was free within " + waited.toMillis()
                        + " ms; the pool may be too small, or its connections are held for too long (" + said + ")",
                "",
                original,
                false);
    }

    /** Whether a pool's error says no more than that time ran out. */
    public static boolean is(SQLException e) {
        return state(e).isEmpty()
                && (isA(SQLTransientConnectionException.class, e) || isA(SQLTimeoutException.class, e));
    }

    /** What is behind a failure, if it is this. */
    static Optional<PoolTimeout> behind(Throwable failure) {
        Throwable e = failure;
        for (int depth = 0; e != null && depth < DEEP; depth++, e = e.getCause()) {
            if (e instanceof PoolTimeout timeout) {
                return Optional.of(timeout);
            }
        }
        return Optional.empty();
    }
}
