package dev.windlass.internal.database;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** All that differs between database engines on the Java side; the rest is in their SQL files. */
public interface Dialect {

    /** The folder of the engine's SQL files. */
    String name();

    /** The servers that Windlass runs on, in words. */
    String servers();

    /** Whether this is one of them, from what the driver knows without asking the server. */
    boolean supports(DatabaseMetaData server) throws SQLException;

    /** A name, quoted as an identifier. */
    String quote(String identifier);

    /** A text, quoted as a literal; only for what cannot be bound. */
    String literal(String text);

    /** The text of a call of a routine that answers with rows. */
    String call(String schema, String routine, List<Argument> arguments);

    /** The text of calls of several routines that answer with one row each, of the same columns: those of the first come first. */
    String callTogether(String schema, List<String> routines, List<List<Argument>> arguments);

    /**
     * The text of a call of a claim, whose rows also tell what it proves; see {@link #proofs}.
     *
     * @param columns which ones of the rows; all, if it is empty
     */
    String callOfClaim(String schema, String routine, List<Argument> arguments, List<String> columns);

    /** Reads what a look proves from its rows. */
    Call.RowMapper<Proof> proofs(ResultSet rows) throws SQLException;

    /** The text of a call of a routine that answers with one value. */
    String callForValue(String schema, String routine, List<Argument> arguments);

    /** Binds an argument; lists arrive as lists of the element type. */
    void bind(PreparedStatement statement, int index, SqlType type, @Nullable Object value) throws SQLException;

    /** Whether trying again may help: deadlocks, lost connections, a server that is starting or has become a standby. */
    boolean isTransient(SQLException e);

    /**
     * Whether the server could not be reached or used, so that live owners may have been unable to renew their leases. A pool
     * that had no connection to give says nothing about the server.
     */
    boolean isOutage(SQLException e);

    /** Whether the server has looked at this very statement and said no; not if it could not be reached, or takes none. */
    boolean isAnswer(SQLException e);

    /** Whether a statement did not get a lock in time that somebody else has. */
    boolean isLocked(SQLException e);

    /** Whether there was not enough memory for a statement or its answer, here or at the server: less may fit. */
    boolean isLackOfMemory(SQLException e);

    /** Whether statements of a transaction have been run on this connection, as far as the driver knows without asking. */
    boolean isInTransaction(Connection connection) throws SQLException;

    /** Whether the connection is of no more use though it may look alive, as one to a server that is now read-only. */
    boolean spoilsConnection(SQLException e);

    /** Whether nothing can be written on this connection, as on one to a standby. */
    boolean isReadOnly(Connection connection) throws SQLException;

    /**
     * What may be said about an error, in one line: its SQLSTATE, and the text of the server only if that cannot quote a row,
     * whoever raised it; else what kind of error it is, and the names that the server gives with it.
     */
    String describe(SQLException e);

    /** Makes this transaction the only one that migrates the schema, until it ends. */
    void lockForMigration(Connection connection, String schema) throws SQLException;

    /** Waits for locks that other transactions hold no longer than this, in this transaction; then it fails. */
    void limitLockWaits(Connection connection, Duration patience) throws SQLException;

    /** Asks the server to give up what runs on this connection. Called by another thread than the one that waits for it. */
    void cancel(Connection connection) throws SQLException;

    /** Whether a table is there and readable. */
    boolean tableExists(Connection connection, String schema, String table) throws SQLException;

    /** The names of the routines in a schema. */
    Set<String> routines(Connection connection, String schema) throws SQLException;

    /** Lets this connection receive what is sent on channels. */
    Subscription listen(Connection connection) throws SQLException;

    /** Lets it receive nothing any more, so that it can go back to its pool. */
    void endListening(Connection connection) throws SQLException;

    /** Sends a message on a channel. */
    void send(Connection connection, String channel, String message) throws SQLException;

    /** A connection that receives what is sent on channels. */
    interface Subscription {

        /** Listens on this channel, too. */
        void add(String channel) throws SQLException;

        /** Waits up to the given time, and passes on what has arrived, each with its channel first. */
        void await(int millis, BiConsumer<String, String> receiver) throws SQLException;
    }
}
