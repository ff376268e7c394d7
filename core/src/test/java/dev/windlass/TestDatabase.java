package dev.windlass;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One server for the whole run, a schema for each test class, and a runtime user that has what the grant script gives and no
 * more: everything under test runs as that user.
 */
public final class TestDatabase implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
    private static final String RUNTIME_USER = "windlass_runtime";

    private final EmbeddedPostgres server;
    private final List<Windlass> started = new ArrayList<>();
    private String schema = "";
    private @Nullable HikariDataSource pool;

    public TestDatabase() {
        this(EmbeddedPostgres.shared());
    }

    /** On a server of the test's own, to be killed and restarted. */
    public TestDatabase(EmbeddedPostgres server) {
        this.server = server;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws SQLException {
        prepare(context.getRequiredTestClass().getSimpleName().toLowerCase(Locale.ROOT));
    }

    public void prepare(String schemaName) throws SQLException {
        schema = schemaName;
        Windlass.Builder builder = Windlass.on(owner()).options(options());
        builder.migrator().migrate();
        execute("""
                do $$ begin
                    if not exists (select from pg_roles where rolname = '%1$s') then
                        create role %1$s login password '%1$s';
                    end if;
                end $$""".formatted(RUNTIME_USER));
        execute(builder.migrator().grants(RUNTIME_USER));
        HikariConfig config = new HikariConfig();
        config.setDataSource(unpooled());
        config.setMaximumPoolSize(24);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(5000);
        pool = new HikariDataSource(config);
    }

    @Override
    public void afterEach(ExtensionContext context) throws SQLException {
        closeAll();
        execute("""
                do $$ begin
                    execute (select 'truncate ' || string_agg(format('%%I.%%I', schemaname, tablename), ', ') || ' cascade'
                               from pg_tables
                              where schemaname = '%1$s' and tablename not in ('windlass_version', 'windlass_watch'));
                end $$""".formatted(schema));
    }

    @Override
    public void afterAll(ExtensionContext context) throws SQLException {
        dataSource().close();
        execute("drop schema \"" + schema + "\" cascade");
    }

    /** Closes what was started, for tests whose data source ends before they do. */
    public void closeAll() {
        started.forEach(Windlass::close);
        started.clear();
    }

    public String schema() {
        return schema;
    }

    public EmbeddedPostgres server() {
        return server;
    }

    /** The pool of the runtime user. */
    public HikariDataSource dataSource() {
        if (pool == null) {
            throw new IllegalStateException("the database has not been prepared");
        }
        return pool;
    }

    /** The runtime user without a pool. */
    public DataSource unpooled() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(server.jdbcUrl());
        source.setUser(RUNTIME_USER);
        source.setPassword(RUNTIME_USER);
        return source;
    }

    /** The owner of the schema, who may change tables. */
    public DataSource owner() {
        return server.dataSource();
    }

    public WindlassOptions options() {
        return WindlassOptions.defaults().withSchemaName(schema).withShutdownGrace(Duration.ofSeconds(2));
    }

    /** A Windlass on this schema, with short leases; closed after the test. */
    public Windlass.Builder windlass() {
        return Windlass.on(dataSource()).options(options());
    }

    public OutboxOptions shortLease() {
        return OutboxOptions.defaults().withLease(Duration.ofSeconds(1));
    }

    public Windlass start(Windlass.Builder builder) {
        Windlass windlass = builder.start();
        started.add(windlass);
        return windlass;
    }

    /** A node that only writes and claims by hand. */
    public Windlass passive() {
        return start(windlass().options(options().withBackgroundWorkers(false)));
    }

    /** Runs SQL as the owner; {@code %s} stands for the schema. */
    public void execute(String sql) throws SQLException {
        try (Connection connection = owner().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql.replace("%s", "\"" + schema + "\""));
        }
    }

    /** One value as the owner; {@code %s} stands for the schema. */
    public <T> T value(Class<T> type, String sql, Object... arguments) {
        try (Connection connection = owner().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql.replace("%s", "\"" + schema + "\""))) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getObject(1, type);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    public long count(String where) {
        return value(Long.class, "select count(*) from %s.outbox where " + where);
    }
}
