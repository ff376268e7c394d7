package dev.windlass.examples;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Runs an example's main method on an empty database. */
final class Run {

    private Run() {}

    @FunctionalInterface
    interface Program {
        void run(String[] args) throws Exception;
    }

    /** Returns the lines that the example printed. */
    static List<String> example(Program example, String... args) throws Exception {
        execute("drop schema if exists windlass cascade; drop schema public cascade; create schema public");
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            example.run(args);
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8).lines().toList();
    }

    static void execute(String sql) throws SQLException {
        try (Connection connection = EmbeddedPostgres.shared().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static String text(String sql) throws SQLException {
        return text("postgres", sql);
    }

    /** In another database of the server. */
    static String text(String database, String sql) throws SQLException {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        try (Connection connection =
                        DriverManager.getConnection(server.jdbcUrl(database), server.user(), server.password());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? String.valueOf(row.getString(1)) : "";
        }
    }
}
