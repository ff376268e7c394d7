package dev.windlass.internal.schema;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.schema.Migrator;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.postgresql.ds.PGSimpleDataSource;

/** A name for a schema that does not exist yet, dropped after the test; and what is in it. */
final class SchemaFixture implements BeforeEachCallback, AfterEachCallback {
    private static final int MIGRATORS = 8;
    private static final String PROGRAM = "windlass_program";

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

    WindlassBuilder windlass() {
        return Windlass.on(owner)
                .options(WindlassOptions.defaults().withSchemaName(schema).withBackgroundWorkers(false));
    }

    Migrator migrator() {
        return windlass().migrator();
    }

    SchemaMigrator migrator(Component component) {
        return new SchemaMigrator(new Database(owner, new PostgresDialect(), schema, "test"), List.of(component));
    }

    /** Many threads with one wish. */
    void migrateManyTimesAtOnce(Migrator migrator) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(MIGRATORS);
        try {
            CyclicBarrier start = new CyclicBarrier(MIGRATORS);
            Callable<Boolean> migration = () -> {
                start.await();
                migrator.migrate();
                return true;
            };
            for (Future<Boolean> result : threads.invokeAll(Collections.nCopies(MIGRATORS, migration))) {
                result.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** A database user with the rights that the grant script gives now, and no more. */
    PGSimpleDataSource program() throws SQLException {
        execute("""
                do $$ begin
                    if not exists (select from pg_roles where rolname = '{role}') then
                        create role {role} login password '{role}';
                    end if;
                end $$""".replace("{role}", PROGRAM));
        execute(migrator().grants(PROGRAM));
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(EmbeddedPostgres.shared().jdbcUrl());
        source.setUser(PROGRAM);
        source.setPassword(PROGRAM);
        return source;
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
        return list("select table_name || ' ' || component from %s.windlass_version");
    }
}
