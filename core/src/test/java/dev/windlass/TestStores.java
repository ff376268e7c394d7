package dev.windlass;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.base.Feature;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.store.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.postgresql.ds.PGSimpleDataSource;

/** Many databases of one server, each with Windlass's tables: copies of one. */
public final class TestStores implements BeforeAllCallback, AfterAllCallback {
    private static final int AT_ONCE = 4;

    private final EmbeddedPostgres server = EmbeddedPostgres.shared();
    private final String prefix;
    private final int count;
    private UnaryOperator<WindlassBuilder> uses = builder -> builder;

    /**
     * @param prefix what the names of the databases begin with
     */
    public TestStores(String prefix, int count) {
        this.prefix = prefix;
        this.count = count;
    }

    /** With the tables of this feature alone: a database that has less is made and dropped sooner. */
    TestStores only(Feature feature) {
        uses = builder -> builder.only(feature);
        return this;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws SQLException {
        execute("create database \"" + prefix + "_template\"");
        uses.apply(Windlass.on(source(prefix + "_template"))).migrator().migrate();
        atOnce(this::create);
    }

    /** By copying files, since a copy through the log writes all of it twice: 200 take 2.4 s instead of 5.5 and more. */
    private void create(int number) throws SQLException {
        execute("create database \"" + id(number) + "\" template \"" + prefix + "_template\" strategy file_copy");
    }

    private interface Step {
        void run(int number) throws SQLException;
    }

    /** Several at a time: the server takes longer for one than it computes. */
    private void atOnce(Step step) {
        ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
        try {
            List<? extends Future<?>> all = IntStream.range(0, count)
                    .mapToObj(number -> threads.submit(() -> {
                        step.run(number);
                        return number;
                    }))
                    .toList();
            for (Future<?> each : all) {
                each.get();
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            threads.shutdownNow();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws SQLException {
        atOnce(this::drop);
        execute("drop database \"" + prefix + "_template\" with (force)");
    }

    private void drop(int number) throws SQLException {
        execute("drop database if exists \"" + id(number) + "\" with (force)");
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    public String id(int number) {
        return prefix + "_" + number;
    }

    public int port() {
        return server.port();
    }

    /** Without a pool. */
    public DataSource source(String database) {
        return source(database, server.port());
    }

    public DataSource source(String database, int port) {
        PGSimpleDataSource source = (PGSimpleDataSource) server.dataSource();
        PGSimpleDataSource of = new PGSimpleDataSource();
        of.setServerNames(new String[] {"127.0.0.1"});
        of.setPortNumbers(new int[] {port});
        of.setDatabaseName(database);
        of.setUser(source.getUser());
        of.setPassword(source.getPassword());
        return of;
    }

    /** A store with a small pool that keeps nothing open. */
    public Store store(int number) {
        return store(number, server.port());
    }

    /** The same behind another port. */
    public Store store(int number, int port) {
        return Store.opening(id(number), id(number) + ":" + port, () -> pool(source(id(number), port)));
    }

    public List<Store> all() {
        return IntStream.range(0, count).mapToObj(this::store).toList();
    }

    public static HikariDataSource pool(DataSource source) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(0);
        config.setIdleTimeout(10_000);
        config.setConnectionTimeout(5_000);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    /** Deletes all messages. */
    public void clear() throws SQLException {
        for (int i = 0; i < count; i++) {
            try (Connection connection = source(id(i)).getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("delete from windlass.outbox");
            }
        }
    }

    /** How many rows of a table in this store are so. */
    public long count(int number, String where) throws SQLException {
        try (Connection connection = source(id(number)).getConnection();
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery("select count(*) from windlass." + where)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    public boolean hasSchema(int number, String schema) throws SQLException {
        try (Connection connection = source(id(number)).getConnection();
                var schemas = connection.getMetaData().getSchemas(null, schema)) {
            return schemas.next();
        }
    }

    /** The payloads of the outbox's messages in this store that are in this state. */
    public List<String> payloads(int number, int status) throws SQLException {
        List<String> payloads = new ArrayList<>();
        try (Connection connection = source(id(number)).getConnection();
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery("select payload from windlass.outbox where status = " + status)) {
            while (rows.next()) {
                payloads.add(rows.getString(1));
            }
        }
        return payloads;
    }

    /** How many sessions there are in the databases of this test whose last statement is so. */
    public int sessions(String where) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery("select count(*) from pg_stat_activity where datname like '" + prefix
                        + "\\_%' and (" + where + ")")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
