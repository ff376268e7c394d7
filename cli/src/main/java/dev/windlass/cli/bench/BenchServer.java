package dev.windlass.cli.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** The server under measurement, and as whom to go there. */
record BenchServer(
        String url, @Nullable String user, @Nullable String password) {
    /** Tells the connections of the fleet from those of the bench. */
    static final String FLEET = "windlass bench fleet";

    private static final String BENCH = "windlass bench";
    private static final int LOGIN_SECONDS = 10;

    /** The database of the URL, for the bench itself. */
    Connection connect() throws SQLException {
        return source(BENCH).getConnection();
    }

    /** Another database, for the bench itself. */
    Connection connect(String database) throws SQLException {
        return source(database, BENCH).getConnection();
    }

    /** The database of the URL, for a fleet; without a pool. */
    DataSource fleet() {
        return source(FLEET);
    }

    /** Another database, for a fleet; without a pool. */
    DataSource fleet(String database) {
        return source(database, FLEET);
    }

    private PGSimpleDataSource source(String database, String application) {
        PGSimpleDataSource source = source(application);
        source.setDatabaseName(database);
        return source;
    }

    private PGSimpleDataSource source(String application) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        if (user != null) {
            source.setUser(user);
            source.setPassword(password);
        }
        source.setLoginTimeout(LOGIN_SECONDS);
        source.setApplicationName(application);
        return source;
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = connect()) {
            execute(connection, sql);
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Its version, and what counts most for how fast it is. */
    static String describe(Connection connection) throws SQLException {
        return text(
                connection,
                "select 'PostgreSQL ' || current_setting('server_version') || ', fsync ' || current_setting('fsync')"
                        + " || ', synchronous_commit ' || current_setting('synchronous_commit')");
    }

    /** The first column of the only row. */
    static String text(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement question = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                question.setObject(i + 1, values[i]);
            }
            try (ResultSet row = question.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        }
    }

    /** The first column of all rows. */
    static Set<String> names(Connection connection, String sql, String value) throws SQLException {
        try (PreparedStatement question = connection.prepareStatement(sql)) {
            question.setString(1, value);
            Set<String> names = new TreeSet<>();
            try (ResultSet rows = question.executeQuery()) {
                while (rows.next()) {
                    names.add(rows.getString(1));
                }
            }
            return names;
        }
    }

    static long number(Connection connection, String sql, Object... values) throws SQLException {
        return Long.parseLong(text(connection, sql, values));
    }
}
