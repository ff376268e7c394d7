package dev.windlass.schema;

import dev.windlass.Windlass;
import dev.windlass.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.engine.PostgresDialect;
import dev.windlass.runtime.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A name for a schema that does not exist yet, dropped after the test; and what is in it. */
final class SchemaFixture implements BeforeEachCallback, AfterEachCallback {
    final DataSource owner = EmbeddedPostgres.shared().dataSource();
    String schema = "";

    @Override
    public void beforeEach(ExtensionContext context) {
        schema = "m" + UUID.randomUUID().toString().replace("-", "");
    }

    @Override
    public void afterEach(ExtensionContext context) throws SQLException {
        execute("drop schema if exists " + schema + " cascade");
    }

    Windlass.Builder windlass() {
        return Windlass.on(owner)
                .options(WindlassOptions.defaults().withSchemaName(schema).withBackgroundWorkers(false));
    }

    Migrator migrator() {
        return windlass().migrator();
    }

    Migrator migrator(Component component) {
        return new Migrator(new Database(owner, new PostgresDialect(), schema, "test"), List.of(component));
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql.replace("%s", schema));
        }
    }

    List<String> list(String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql.replace("%s", schema))) {
            while (row.next()) {
                rows.add(row.getString(1));
            }
        }
        return rows;
    }

    boolean exists() throws SQLException {
        return !list("select nspname from pg_namespace where nspname = '%s'").isEmpty();
    }

    /** Everything in the schema, as text that does not name the schema: columns, constraints, indexes, routines. */
    List<String> content() throws SQLException {
        return list("""
                select replace(line, '%s', 'S') from (
                    select concat_ws(' ', 'column', c.relname, a.attname,
                                     format_type(a.atttypid, a.atttypmod), a.attnotnull) as line
                      from pg_attribute a join pg_class c on c.oid = a.attrelid
                     where c.relnamespace = to_regnamespace('%s') and c.relkind = 'r' and a.attnum > 0
                    union all
                    select concat_ws(' ', 'constraint', conname, pg_get_constraintdef(oid))
                      from pg_constraint where connamespace = to_regnamespace('%s')
                    union all
                    select concat_ws(' ', 'index', indexdef) from pg_indexes where schemaname = '%s'
                    union all
                    select pg_get_functiondef(oid) from pg_proc where pronamespace = to_regnamespace('%s')) lines
                 order by 1""");
    }

    List<String> versions() throws SQLException {
        return list(
                "select table_name || ' ' || version || ' ' || applied_at from %s.windlass_version where component = 'outbox' order by 1");
    }

    /** The tables whose version is recorded. */
    List<String> installed() throws SQLException {
        return list("select table_name from %s.windlass_version");
    }
}
