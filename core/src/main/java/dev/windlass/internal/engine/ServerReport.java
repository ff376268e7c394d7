package dev.windlass.internal.engine;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * What the server says about an error, in parts; apart from the rest, so that the driver's classes are loaded only here.
 *
 * @param routine the server's own function that reports the error
 * @param where which functions were at work, the innermost first
 */
record ServerReport(
        String text,
        @Nullable String routine,
        @Nullable String where,
        @Nullable String constraint,
        @Nullable String schema,
        @Nullable String table,
        @Nullable String column) {

    /** Null for what the driver itself says. */
    static @Nullable ServerReport of(SQLException e) {
        ServerErrorMessage message = e instanceof PSQLException its ? its.getServerErrorMessage() : null;
        return message == null
                ? null
                : new ServerReport(
                        String.valueOf(message.getMessage()),
                        message.getRoutine(),
                        message.getWhere(),
                        message.getConstraint(),
                        message.getSchema(),
                        message.getTable(),
                        message.getColumn());
    }
}
