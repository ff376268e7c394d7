package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which tables of Windlass a schema has. A command for one of them need not be told the names of the others, which the library
 * looks for all the same.
 */
record InstalledTables(Map<String, String> byComponent) {

    static InstalledTables read(Connection connection, SchemaOptions schema) throws SQLException {
        Map<String, String> tables = new TreeMap<>();
        String versions = schema.qualifiedName("windlass_version");
        if (!exists(connection, versions)) {
            return new InstalledTables(tables);
        }
        String sql = "select v.component, v.table_name from " + versions + " v order by v.table_name";
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                tables.putIfAbsent(row.getString(1), row.getString(2));
                if (row.getString(1).equals(row.getString(2))) {
                    tables.put(row.getString(1), row.getString(2));
                }
            }
        }
        return new InstalledTables(tables);
    }

    static boolean exists(Connection connection, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select to_regclass(?) is not null")) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** What was asked for, or, if that is the default, what is there. */
    String table(String component, String asked) {
        return asked.equals(component) ? byComponent.getOrDefault(component, asked) : asked;
    }
}
