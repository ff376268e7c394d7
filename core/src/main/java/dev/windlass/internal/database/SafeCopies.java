package dev.windlass.internal.database;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes exceptions fit to be logged, stored and passed on: errors of the database in them quote no row any more, wherever they
 * are among causes and suppressed ones. What has none in it stays as it is.
 */
public final class SafeCopies {
    private static final int DEEP = 10;

    /** An internal error, as the standard has it. */
    private static final String NO_STATE = "HY000";

    private final Dialect dialect;
    private final boolean connecting;
    private final IdentityHashMap<Throwable, Throwable> copies = new IdentityHashMap<>();

    private SafeCopies(Dialect dialect, boolean connecting) {
        this.dialect = dialect;
        this.connecting = connecting;
    }

    public static SQLException of(SQLException e, Dialect dialect) {
        return isSafe(e) ? e : (SQLException) new SafeCopies(dialect, false).copy(e);
    }

    /** Of an error that came instead of a connection: there was no row that it could quote. */
    static SQLException whileConnecting(SQLException e, Dialect dialect) {
        return isSafe(e) ? e : (SQLException) new SafeCopies(dialect, true).copy(e);
    }

    /** Of what users' code has thrown, too: that may be impossible to look into. */
    public static Throwable of(Throwable thrown, Dialect dialect) {
        try {
            return isSafe(thrown) ? thrown : new SafeCopies(dialect, false).copy(thrown);
        } catch (Throwable e) {
            return new SafeCopy(thrown, thrown.getClass().getName());
        }
    }

    /**
     * Of what a data source or its statements have thrown: some throw errors of the database as causes of unchecked exceptions.
     * Those become what they were.
     *
     * @throws RuntimeException the same, if there is no such error in it
     */
    static SQLException unwrapped(RuntimeException thrown, Dialect dialect) {
        if (isSafe(thrown)) {
            throw thrown;
        }
        Throwable cause = thrown;
        for (int depth = 0; cause != null && depth < DEEP; depth++, cause = cause.getCause()) {
            if (cause instanceof SQLException e) {
                return of(e, dialect);
            }
        }
        return new SqlError(thrown.getClass().getName(), NO_STATE);
    }

    private static boolean isSafe(Throwable thrown) {
        return isSafe(thrown, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean isSafe(@Nullable Throwable thrown, Set<Throwable> seen) {
        if (thrown == null || !seen.add(thrown)) {
            return true;
        }
        if (thrown instanceof SQLException && !(thrown instanceof SqlError)) {
            return false;
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            if (!isSafe(suppressed, seen)) {
                return false;
            }
        }
        return isSafe(thrown.getCause(), seen);
    }

    /** Known before its causes are copied: they may lead back to it. */
    private Throwable copy(Throwable thrown) {
        Throwable known = copies.get(thrown);
        if (known != null || isSafe(thrown)) {
            return known == null ? thrown : known;
        }
        Throwable copy = thrown instanceof SQLException e
                ? new SqlError(describe(e), SqlError.state(e), e, dialect.isOutage(e))
                : new SafeCopy(thrown, retold(thrown));
        copies.put(thrown, copy);
        Throwable cause = thrown.getCause();
        if (cause != null && isTold(cause, thrown)) {
            copy.initCause(copy(cause));
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            copy.addSuppressed(copy(suppressed));
        }
        return copy;
    }

    private String describe(SQLException e) {
        return connecting && SqlError.state(e).isEmpty() ? String.valueOf(e.getMessage()) : dialect.describe(e);
    }

    /**
     * Of what is behind an error of the database, a failure of the network is told, and a lack of memory; that of a parser would
     * quote what it read.
     */
    private boolean isTold(Throwable cause, Throwable thrown) {
        return connecting
                || !(thrown instanceof SQLException)
                || cause instanceof SQLException
                || cause instanceof IOException
                || cause instanceof OutOfMemoryError;
    }

    /** Most exceptions that wrap another repeat its text in theirs. */
    private String retold(Throwable thrown) {
        return retold(String.valueOf(thrown), thrown, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private String retold(String text, @Nullable Throwable thrown, Set<Throwable> seen) {
        if (thrown == null || !seen.add(thrown)) {
            return text;
        }
        String told = text;
        if (thrown instanceof SQLException e
                && e.getMessage() != null
                && !e.getMessage().isBlank()) {
            told = told.replace(e.getMessage(), describe(e));
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            told = retold(told, suppressed, seen);
        }
        return retold(told, thrown.getCause(), seen);
    }
}
