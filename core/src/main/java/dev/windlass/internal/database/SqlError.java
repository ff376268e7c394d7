package dev.windlass.internal.database;

import java.sql.SQLException;
import java.sql.SQLNonTransientException;

/**
 * An error of the database as it may be logged and passed on: with the SQLSTATE, vendor code and stack trace of the original,
 * and a text without a word that may come from a row.
 */
public class SqlError extends SQLException {
    private static final long serialVersionUID = 1L;

    private static final int DEEP = 10;

    private final Class<?> kind;
    private final boolean outage;

    /**
     * @param outage whether the server could not be reached or used; whoever met it first has told of that
     */
    SqlError(String text, String state, SQLException original, boolean outage) {
        super(text, state.isEmpty() ? null : state, original.getErrorCode());
        this.outage = outage;
        this.kind = original instanceof SqlError known ? known.kind : original.getClass();
        setStackTrace(original.getStackTrace());
    }

    /** One that Windlass finds itself, and that trying again does not mend. */
    SqlError(String text, String state) {
        super(text, state);
        this.kind = SQLNonTransientException.class;
        this.outage = false;
    }

    /** Whether an outage is behind a failure. */
    public static boolean isOutage(Throwable failure) {
        Throwable e = failure;
        for (int depth = 0; e != null && depth < DEEP; depth++, e = e.getCause()) {
            if (e instanceof SqlError error && error.outage) {
                return true;
            }
        }
        return false;
    }

    /** The SQLSTATE of an error, or of what a pool has wrapped in one without; empty if there is none. */
    public static String state(SQLException e) {
        String state = e.getSQLState();
        if (state != null && state.length() == 5) {
            return state;
        }
        return e.getCause() instanceof SQLException cause && cause != e ? state(cause) : "";
    }

    /** Whether an error is of this type, or was before it became fit to be told. */
    public static boolean isA(Class<? extends SQLException> type, SQLException e) {
        return type.isAssignableFrom(e instanceof SqlError error ? error.kind : e.getClass());
    }
}
