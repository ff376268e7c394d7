package dev.windlass.cli;

import dev.windlass.testkit.WindlassExtension;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import javax.sql.DataSource;

/** A look into a database, from beside the commands. */
final class Sql {

    private Sql() {}

    /** With the schema of the class for {@code %s}. */
    static void execute(WindlassExtension database, String sql) throws SQLException {
        execute(database.dataSource(), sql.replace("%s", database.schema()));
    }

    static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static String value(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return Objects.requireNonNullElse(row.getString(1), "null");
        }
    }
}
