package dev.windlass.internal.database;

import dev.windlass.internal.support.InWords;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;

/**
 * The pool had no connection to give within its patience. Trying again may help; but the database need not be away, as it is when
 * a connection cannot be made: then there is an SQLSTATE.
 */
public final class PoolTimeout extends SqlError {
    private static final long serialVersionUID = 1L;
    private static final int DEEP = 10;

    public PoolTimeout(SQLException original, Duration waited, String said) {
        super(
                "no connection was free within " + InWords.of(waited)
                        + "; the pool may be too small, or its connections are held for too long (" + said + ")",
                "",
                original,
                false);
    }

    /** Whether a pool's error says no more than that time ran out. */
    public static boolean is(SQLException e) {
        return state(e).isEmpty()
                && (isA(SQLTransientConnectionException.class, e) || isA(SQLTimeoutException.class, e));
    }

    /** Whether this is behind a failure. */
    public static boolean isBehind(Throwable failure) {
        Throwable e = failure;
        for (int depth = 0; e != null && depth < DEEP; depth++, e = e.getCause()) {
            if (e instanceof PoolTimeout) {
                return true;
            }
        }
        return false;
    }
}
