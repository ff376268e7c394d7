package dev.windlass;

import dev.windlass.runtime.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;

/**
 * The database under the conformance suite: the public API on it, and what the suite does behind the API's back, in SQL that
 * every engine takes. In that SQL, {@code %s} stands for the schema.
 */
public interface EngineDatabase {

    WindlassOptions options();

    /** A Windlass on this database, as the program's user. */
    Windlass.Builder windlass();

    /** Starts it, and closes it after the test. */
    Windlass start(Windlass.Builder builder);

    /** A connection of the program's user. */
    Connection connect() throws SQLException;

    /** The routines, for verbs that are not in the public API. */
    Database routines();

    /** Runs a statement as the owner of the schema, and returns how many rows it changed. */
    int update(String sql, Object... arguments);

    /** Reads one value as the owner of the schema. */
    <T> T value(Class<T> type, String sql, Object... arguments);

    /**
     * A connection of the program's user in a transaction, which the server ends when nothing happens in it for long: so a call
     * on the same thread that wrongly waits for it fails in the end.
     */
    Connection transaction() throws SQLException;

    /** Lets the program's user work with a table of the test's own. */
    void grant(String table);

    /** How many connections of the program's pool are in use. */
    int activeConnections();

    /** The database's clock. */
    Instant now();
}
