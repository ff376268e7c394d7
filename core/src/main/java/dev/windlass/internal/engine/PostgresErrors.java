package dev.windlass.internal.engine;

import dev.windlass.internal.database.SqlError;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Tells errors without a word that may come from a row.
 *
 * <p>In some classes of errors the server quotes values or whole rows, and a function of the user's may raise any text under any
 * SQLSTATE. Only SQLSTATE and the names of constraint, table and column are always safe.
 */
final class PostgresErrors {

    /** Errors about connections, rights, names, locks, limits and the server: their texts quote no values. */
    private static final Set<String> HARMLESS =
            Set.of("08", "0A", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58");

    /** Errors about names: within a function, a name may have been made of a value. */
    private static final Set<String> NAMES = Set.of("3D", "3F", "42");

    private static final String NO_RIGHT = "42501";

    private static final Map<String, String> CONDITIONS = Map.ofEntries(
            Map.entry("22", "a value is not what is expected"),
            Map.entry("22001", "a value is too long"),
            Map.entry("23", "a constraint is violated"),
            Map.entry("23502", "a value is missing"),
            Map.entry("23503", "a foreign key is violated"),
            Map.entry("23505", "a unique key is violated"),
            Map.entry("23514", "a check constraint is violated"),
            Map.entry("3F", "a schema is not there"),
            Map.entry("42", "a statement does not fit the tables"),
            Map.entry("53200", "there is not enough memory"),
            Map.entry("XX", "the server has an internal error"));

    /** Reports what RAISE says. */
    private static final String RAISE = "exec_stmt_raise";

    /**
     * The routines of Windlass that refuse in their own words what a program may get wrong: an argument, a job of another set.
     * Functions of triggers have no arguments.
     */
    private static final List<String> OWN_WORDS = List.of("_job_save(text", "windlass_refuse(text");

    /** What a pooler in transaction mode makes of statements that the driver has prepared on another connection. */
    private static final Set<String> LOST_STATEMENTS = Set.of("42P05", "26000");

    private static final String POOLER = "; behind a pooler that shares connections among transactions, give the driver"
            + " prepareThreshold=0, or let the pooler follow prepared statements";

    private PostgresErrors() {}

    static String describe(SQLException e) {
        if (e instanceof SqlError) {
            return line(e.getMessage());
        }
        return describeRaw(e) + (LOST_STATEMENTS.contains(SqlError.state(e)) ? POOLER : "");
    }

    private static String describeRaw(SQLException e) {
        SQLException speaks = speaking(e);
        String state = SqlError.state(speaks);
        if (state.isEmpty()) {
            return isPools(speaks)
                    ? line(speaks.getMessage())
                    : "an error without SQLSTATE (" + speaks.getClass().getName() + ")";
        }
        ServerReport report = report(speaks);
        if (report == null) {
            return isHarmless(speaks, state)
                    ? line(speaks.getMessage()) + " (SQLSTATE " + state + ")"
                    : withoutText(state, "");
        }
        return isHarmless(report, state)
                ? line(report.text()) + " (SQLSTATE " + state + ")"
                : withoutText(state, names(report));
    }

    /** The error, or what a pool has wrapped in one without a state. */
    private static SQLException speaking(SQLException e) {
        return SqlError.state(e).equals(e.getSQLState()) || !(e.getCause() instanceof SQLException cause)
                ? e
                : speaking(cause);
    }

    /** What pools throw when they have no connection. */
    private static boolean isPools(SQLException e) {
        return e instanceof SQLTransientException
                || e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException;
    }

    private static @Nullable ServerReport report(SQLException e) {
        try {
            return isDrivers(e) ? ServerReport.of(e) : null;
        } catch (LinkageError notVisible) {
            return null;
        }
    }

    private static boolean isDrivers(SQLException e) {
        return e.getClass().getName().startsWith("org.postgresql.");
    }

    /** The driver's own words. Where its classes are not visible, they cannot be told from the server's: then only of connections. */
    private static boolean isHarmless(SQLException e, String state) {
        String kind = state.substring(0, 2);
        return isDrivers(e) ? kind.equals("08") : HARMLESS.contains(kind);
    }

    private static boolean isHarmless(ServerReport report, String state) {
        String where = report.where() == null ? "" : report.where();
        if (RAISE.equals(report.routine())) {
            return isOwn(where);
        }
        String kind = state.substring(0, 2);
        boolean inFunction = !where.isEmpty();
        boolean foreignLanguage = where.startsWith("PL/") && !where.startsWith("PL/pgSQL");
        return HARMLESS.contains(kind)
                && !foreignLanguage
                && (!NAMES.contains(kind) || !inFunction || state.equals(NO_RIGHT));
    }

    private static boolean isOwn(String where) {
        String innermost = line(where).replace("\"", "");
        return OWN_WORDS.stream().anyMatch(innermost::contains);
    }

    private static String names(ServerReport report) {
        StringJoiner names = new StringJoiner("");
        if (report.constraint() != null) {
            names.add(", constraint \"" + line(report.constraint()) + '"');
        }
        if (report.table() != null) {
            names.add(", table \"" + line(report.schema()) + "\".\"" + line(report.table()) + '"');
        }
        if (report.column() != null) {
            names.add(", column \"" + line(report.column()) + '"');
        }
        return names.toString();
    }

    private static String withoutText(String state, String names) {
        String condition = CONDITIONS.getOrDefault(
                state, CONDITIONS.getOrDefault(state.substring(0, 2), "the database refuses it"));
        return condition + " (SQLSTATE " + state + names
                + "; the text is left out, since it may quote a row: the server's log has it)";
    }

    private static String line(@Nullable String text) {
        return String.valueOf(text).lines().findFirst().orElse("").strip();
    }
}
