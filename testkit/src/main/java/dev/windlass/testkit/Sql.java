package dev.windlass.testkit;

import dev.windlass.base.WindlassException;
import dev.windlass.internal.database.Dialect;
import dev.windlass.internal.database.SafeCopies;
import dev.windlass.internal.engine.PostgresDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Transactions that do not wait for ever: a test that forgot to end its own gets an error instead of a hang. */
final class Sql {
    private static final Dialect DIALECT = new PostgresDialect();
    private static final String DEADLOCK = "40P01";
    private static final int MAX_ATTEMPTS = 5;

    private Sql() {}

    /** Nodes lock tables in an order of their own: a transaction that a deadlock with one of them ended is run again. */
    static <T> T inTransaction(DataSource dataSource, String what, Work<T> work) {
        for (int attempt = 1; ; attempt++) {
            try {
                return once(dataSource, work);
            } catch (SQLException e) {
                if (attempt == MAX_ATTEMPTS || !DEADLOCK.equals(e.getSQLState())) {
                    throw new WindlassException(
                            "could not " + what + ": " + DIALECT.describe(e) + hint(e), SafeCopies.of(e, DIALECT));
                }
            }
        }
    }

    private static <T> T once(DataSource dataSource, Work<T> work) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            try {
                execute(connection, "set transaction isolation level read committed");
                execute(connection, "set local lock_timeout = '3s'");
                T result = work.run(connection);
                connection.commit();
                return result;
            } catch (Throwable e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(autoCommit);
            }
        }
    }

    private static String hint(SQLException e) {
        return "55P03".equals(e.getSQLState()) ? "; a transaction of the test seems to be open still" : "";
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Work on a connection that somebody else opens, commits and closes. */
    @FunctionalInterface
    interface Work<T> {
        T run(Connection connection) throws SQLException;
    }
}
