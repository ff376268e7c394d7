package dev.windlass.benchmarks.scenario;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** The caller's own table. */
record BusinessTable(String name) {
    static final int THREADS = 4;

    String ddl() {
        return "drop table if exists " + name + "; create table " + name
                + " (id bigint generated always as identity primary key, amount numeric not null, note text not null)";
    }

    void insert(Connection connection) throws SQLException {
        insert(connection, 1);
    }

    void insert(Connection connection, int rows) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("insert into " + name + " (amount, note) values (?, ?)")) {
            for (int i = 0; i < rows; i++) {
                insert.setInt(1, 42);
                insert.setString(2, "an order");
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }
}
