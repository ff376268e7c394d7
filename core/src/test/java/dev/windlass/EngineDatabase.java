package dev.windlass;

import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * The database under a conformance suite: the public API on it, and what the suite does behind the API's back. It has a schema for
 * the suites, and empties the tables after each test; what a suite changes in the schema, it changes back.
 *
 * <p>The suite's SQL is such as every engine takes; the rest is here. In SQL, {@code %s} stands for the schema. Times and truth
 * values are bound and not written out: an argument, and what is read, is a text, a number, a UUID, a Boolean or an Instant, of which
 * {@link Instant#MIN} and {@link Instant#MAX} are the first and the last that the engine knows.
 */
public interface EngineDatabase extends BeforeAllCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {

    WindlassOptions options();

    /** A Windlass on this database, as the program's user. */
    WindlassBuilder windlass();

    /** Starts it, and closes it after the test. */
    Windlass start(WindlassBuilder builder);

    /** A connection of the program's user. */
    Connection connect() throws SQLException;

    /**
     * A connection of the program's user in a transaction, which the server ends when nothing happens in it for long: so a call
     * on the same thread that wrongly waits for it fails in the end.
     */
    Connection transaction() throws SQLException;

    /** The routines, for verbs that are not in the public API. */
    Database routines();

    /** Runs a statement as the owner of the schema, and returns how many rows it changed. */
    int update(String sql, Object... arguments);

    /** Runs a statement in somebody's transaction. */
    int update(Connection connection, String sql, Object... arguments) throws SQLException;

    /** Reads one value as the owner of the schema. */
    <T> T value(Class<T> type, String sql, Object... arguments);

    /** Reads rows as the owner of the schema: the columns of each in words, with blanks between them. */
    List<String> rows(String sql, Object... arguments);

    /** Locks rows of a table until this transaction ends, and returns how many. */
    int lock(Connection transaction, String table, String where, Object... arguments) throws SQLException;

    /** SQL for a time that is so much later than this one, which is SQL too; or earlier. */
    String plus(String time, Duration duration);

    /** Does something while this message of the outbox has headers that cannot be read, which the table would refuse. */
    void whileUnreadable(UUID message, Step step) throws SQLException;

    /** Lets the program's user work with a table of the test's own. */
    void grant(String table);

    /** How many connections of the program's pool are in use. */
    int activeConnections();

    /** The database's clock. */
    Instant now();

    @Override
    default boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == EngineDatabase.class;
    }

    @Override
    default EngineDatabase resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return this;
    }

    interface Step {
        void run() throws SQLException;
    }
}
