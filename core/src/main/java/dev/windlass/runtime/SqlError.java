package dev.windlass.runtime;

import java.sql.SQLException;

/**
 * An error of the database as it may be logged and passed on: with the SQLSTATE, vendor code and stack trace of the original,
 * and a text without a word that may come from a row.
 */
public class SqlError extends SQLException {
    private static final long serialVersionUID = 1L;

    private final Class<?> kind;

    SqlError(String text, String state, SQLException original) {
        super(text, state.isEmpty() ? null : state, original.getErrorCode());
        this.kind = original instanceof SqlError known ? known.kind : original.getClass();
        setStackTrace(original.getStackTrace());
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
