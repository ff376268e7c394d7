package dev.windlass.cli;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Finds by their names what may be stores: the databases of a server, or the schemas of a database. */
final class StoreSearch {
    /** A database whose dropping was interrupted has a limit of -2, and takes no connections. */
    private static final String DATABASES = """
            select d.datname
              from pg_catalog.pg_database d
             where not d.datistemplate
               and d.datallowconn
               and d.datconnlimit <> -2
               and d.datname like ?
             order by d.datname""";

    private static final String SCHEMAS = """
            select n.nspname
              from pg_catalog.pg_namespace n
             where n.nspname <> 'information_schema'
               and n.nspname not like 'pg\\_%'
               and n.nspname like ?
             order by n.nspname""";

    private final Target target;

    StoreSearch(Target target) {
        this.target = target;
    }

    List<String> databases(NamePattern pattern) {
        return names("database", DATABASES, pattern);
    }

    List<String> schemas(NamePattern pattern) {
        return names("schema", SCHEMAS, pattern);
    }

    private List<String> names(String kind, String sql, NamePattern pattern) {
        List<String> names = new ArrayList<>();
        try (Connection connection = target.connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, pattern.like());
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    names.add(row.getString(1));
                }
            }
        } catch (SQLException e) {
            throw CommandFailure.of("look for a " + kind + " like '" + pattern.text() + "' on " + target, e);
        }
        if (names.isEmpty()) {
            throw new CommandFailure(
                    "expected a %s with a name like '%s' on %s, found none; correct the pattern or the URL"
                            .formatted(kind, pattern.text(), target));
        }
        return names;
    }
}
