package dev.windlass;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.database.SqlType;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * PostgreSQL: one server for the whole run, a schema for each test class but one for all conformance suites, and a runtime user that
 * has what the grant script gives and no more: everything under test runs as that user.
 */
public final class TestDatabase implements EngineDatabase {
    private static final String DEADLOCK = "40P01";
    private static final int MOST_TRIES = 5;

    private static final String RUNTIME_USER = "windlass_runtime";

    private final PostgresDialect dialect = new PostgresDialect();
    private final EmbeddedPostgres server;
    private final boolean stays;
    private final List<Windlass> started = new ArrayList<>();
    private String schema = "";
    private @Nullable HikariDataSource pool;

    public TestDatabase() {
        this(EmbeddedPostgres.shared());
    }

    /** On a server of the test's own, to be killed and restarted. */
    public TestDatabase(EmbeddedPostgres server) {
        this(server, false);
    }

    private TestDatabase(EmbeddedPostgres server, boolean stays) {
        this.server = server;
        this.stays = stays;
    }

    /**
     * The one of all conformance suites in this process. They leave its schema as it was, and to make and drop one takes as long as a
     * short suite.
     */
    static TestDatabase ofSuites() {
        return OfSuites.DATABASE;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws SQLException {
        if (stays) {
            lookAsNew();
        } else {
            prepare(context.getRequiredTestClass().getSimpleName().toLowerCase(Locale.ROOT));
        }
    }

    /** Somebody has been here until now, and nobody has to be given time. */
    private void lookAsNew() throws SQLException {
        execute("update %s.windlass_watch set seen_at = clock_timestamp(), quiet_until = '-infinity'");
    }

    public void prepare(String schemaName) throws SQLException {
        schema = schemaName;
        WindlassBuilder builder = Windlass.on(owner()).options(options());
        builder.migrator().migrate();
        execute("""
                do $$ begin
                    if not exists (select from pg_roles where rolname = '%1$s') then
                        create role %1$s login password '%1$s';
                    end if;
                end $$""".formatted(RUNTIME_USER));
        execute(builder.migrator().grants(RUNTIME_USER));
        pool = pool(unpooled(), 24);
    }

    private static HikariDataSource pool(DataSource source, int size) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(5000);
        return new HikariDataSource(config);
    }

    @Override
    public void afterEach(ExtensionContext context) throws SQLException {
        closeAll();
        for (int tries = 1; ; tries++) {
            try {
                empty();
                return;
            } catch (SQLException e) {
                if (tries == MOST_TRIES || !DEADLOCK.equals(e.getSQLState())) {
                    throw e;
                }
            }
        }
    }

    /** A session of a node that was cut off may still read, from one table after the other. */
    private void empty() throws SQLException {
        execute("""
                do $$
                declare
                    v_used text := (select string_agg(used::text, ', ')
                                      from pg_tables, cast(format('%%I.%%I', schemaname, tablename) as regclass) used
                                     where schemaname = '%1$s' and tablename not in ('windlass_version', 'windlass_watch')
                                       and pg_relation_size(used) > 0);
                begin
                    if v_used is not null then
                        execute 'truncate ' || v_used || ' cascade';
                    end if;
                end $$""".formatted(schema));
    }

    @Override
    public void afterAll(ExtensionContext context) throws SQLException {
        if (stays) {
            return;
        }
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

    @Override
    public WindlassOptions options() {
        return WindlassOptions.defaults().withSchemaName(schema).withShutdownGrace(Duration.ofSeconds(2));
    }

    @Override
    public WindlassBuilder windlass() {
        return Windlass.on(dataSource()).options(options());
    }

    public OutboxOptions shortLease() {
        return OutboxOptions.defaults().withLease(Duration.ofSeconds(1));
    }

    @Override
    public Windlass start(WindlassBuilder builder) {
        Windlass windlass = builder.start();
        started.add(windlass);
        return windlass;
    }

    /** A node that only writes and claims by hand. */
    public Windlass passive() {
        return start(windlass().options(options().withBackgroundWorkers(false)));
    }

    @Override
    public Connection connect() throws SQLException {
        return dataSource().getConnection();
    }

    @Override
    public Connection transaction() throws SQLException {
        Connection connection = unpooled().getConnection(); // the setting must not go back to the pool
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("set idle_in_transaction_session_timeout = '15s'");
        }
        connection.commit();
        return connection;
    }

    @Override
    public Database routines() {
        return new Database(dataSource(), dialect, schema, "test");
    }

    /** Runs SQL as the owner, several statements if need be; {@code %s} stands for the schema. */
    public void execute(String sql) throws SQLException {
        try (Connection connection = ownerSession();
                Statement statement = connection.createStatement()) {
            statement.execute(inSchema(sql));
        }
    }

    @Override
    public int update(String sql, Object... arguments) {
        return asOwner(connection -> update(connection, sql, arguments));
    }

    @Override
    public int update(Connection connection, String sql, Object... arguments) throws SQLException {
        try (PreparedStatement statement = statement(connection, sql, arguments)) {
            return statement.executeUpdate();
        }
    }

    @Override
    @SuppressWarnings("NullAway") // of a column that may be null, JDBC has it so
    public <T> T value(Class<T> type, String sql, Object... arguments) {
        return asOwner(connection -> {
            try (PreparedStatement statement = statement(connection, sql, arguments);
                    ResultSet row = statement.executeQuery()) {
                row.next();
                return type == Instant.class
                        ? type.cast(Instants.optionalInstant(row, 1).orElse(null))
                        : row.getObject(1, type);
            }
        });
    }

    @Override
    public List<String> rows(String sql, Object... arguments) {
        return asOwner(connection -> {
            List<String> rows = new ArrayList<>();
            try (PreparedStatement statement = statement(connection, sql, arguments);
                    ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    StringJoiner columns = new StringJoiner(" ");
                    for (int column = 1; column <= row.getMetaData().getColumnCount(); column++) {
                        columns.add(row.getString(column));
                    }
                    rows.add(columns.toString());
                }
            }
            return rows;
        });
    }

    @Override
    public int lock(Connection transaction, String table, String where, Object... arguments) throws SQLException {
        String sql = "select count(*) from (select 1 from %s." + table + " where " + where + " for update) locked";
        try (PreparedStatement statement = statement(transaction, sql, arguments);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }

    @Override
    public String plus(String time, Duration duration) {
        return "(" + time + " + interval '" + duration + "')";
    }

    @Override
    public void whileUnreadable(UUID message, Step step) throws SQLException {
        update("alter domain %s.windlass_headers drop constraint windlass_headers_check");
        try {
            update("update %s.outbox set headers = '[1]' where id = ?", message);
            step.run();
        } finally {
            update("update %s.outbox set headers = null");
            update(
                    "alter domain %s.windlass_headers add constraint windlass_headers_check check (jsonb_typeof(value) = 'object')");
        }
    }

    @Override
    public void grant(String table) {
        update("grant select, insert, update, delete on %s." + table + " to " + RUNTIME_USER);
    }

    @Override
    public int activeConnections() {
        return dataSource().getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public Instant now() {
        return value(Instant.class, "select clock_timestamp()");
    }

    public long count(String where) {
        return value(Long.class, "select count(*) from %s.outbox where " + where);
    }

    private static final class OfSuites {
        static final TestDatabase DATABASE = prepared();

        private static TestDatabase prepared() {
            TestDatabase database = new TestDatabase(EmbeddedPostgres.shared(), true);
            try {
                database.prepare("conformance");
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return database;
        }
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private Connection ownerSession() throws SQLException {
        return (server == EmbeddedPostgres.shared() ? SharedOwner.POOL : owner()).getConnection();
    }

    /** Tests look at their tables all the time; a new session for each look costs the server more than the look. */
    private static final class SharedOwner {
        static final HikariDataSource POOL = pool(EmbeddedPostgres.shared().dataSource(), 8);
    }

    private <T> T asOwner(Work<T> work) {
        try (Connection connection = ownerSession()) {
            return work.on(connection);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private PreparedStatement statement(Connection connection, String sql, Object... arguments) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(inSchema(sql));
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof Instant) {
                dialect.bind(statement, i + 1, SqlType.INSTANT, arguments[i]);
            } else {
                statement.setObject(i + 1, arguments[i]);
            }
        }
        return statement;
    }

    private String inSchema(String sql) {
        return sql.replace("%s", dialect.quote(schema));
    }
}
