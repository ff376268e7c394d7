package dev.windlass.benchmarks.system;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The schema of one system, as the measurement sees it: by connections that the system does not use. */
public final class Tables implements AutoCloseable {
    private final HikariDataSource control;
    private final String schema;

    public Tables(Server server, String schema) {
        this.schema = schema;
        this.control = server.pool(schema, 2);
    }

    public String schema() {
        return schema;
    }

    void recreate() throws SQLException {
        execute("drop schema if exists " + schema + " cascade");
        execute("create schema " + schema);
    }

    public void execute(String sql) throws SQLException {
        try (Connection connection = control.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Without sequential scans: a table that has just been emptied still has its dead rows. */
    public boolean isTrue(String sql) throws SQLException {
        try (Connection connection = control.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("set enable_seqscan = off");
            try (ResultSet row = statement.executeQuery(sql)) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    public double number(String sql) throws SQLException {
        try (Connection connection = control.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getDouble(1);
        }
    }

    /** So that every round starts alike. */
    public void settle(String... tables) throws SQLException {
        for (String table : tables) {
            execute("vacuum analyze " + table);
        }
        execute("checkpoint");
    }

    @Override
    public void close() {
        control.close();
    }
}
