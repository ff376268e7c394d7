package dev.windlass;

import dev.windlass.engine.PostgresDialect;
import dev.windlass.runtime.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;

public final class PostgresDatabase implements EngineDatabase {
    private final TestDatabase database;

    public PostgresDatabase(TestDatabase database) {
        this.database = database;
    }

    @Override
    public WindlassOptions options() {
        return database.options();
    }

    @Override
    public Windlass.Builder windlass() {
        return database.windlass();
    }

    @Override
    public Windlass start(Windlass.Builder builder) {
        return database.start(builder);
    }

    @Override
    public Connection connect() throws SQLException {
        return database.dataSource().getConnection();
    }

    @Override
    public Database routines() {
        return new Database(database.dataSource(), new PostgresDialect(), database.schema(), "test");
    }

    @Override
    public int update(String sql, Object... arguments) {
        try (Connection connection = database.owner().getConnection();
                PreparedStatement statement =
                        connection.prepareStatement(sql.replace("%s", "\"" + database.schema() + "\""))) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public <T> T value(Class<T> type, String sql, Object... arguments) {
        return database.value(type, sql, arguments);
    }

    @Override
    public Connection transaction() throws SQLException {
        Connection connection = database.unpooled().getConnection(); // the setting must not go back to the pool
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("set idle_in_transaction_session_timeout = '15s'");
        }
        connection.commit();
        return connection;
    }

    @Override
    public void grant(String table) {
        update("grant select, insert, update, delete on %s." + table + " to windlass_runtime");
    }

    @Override
    public int activeConnections() {
        return database.dataSource().getHikariPoolMXBean().getActiveConnections();
    }

    @Override
    public Instant now() {
        return value(OffsetDateTime.class, "select clock_timestamp()").toInstant();
    }
}
