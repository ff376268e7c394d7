package dev.windlass.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A file of SQL statements, each ending with a line's end, and the answers that it promises: {@code --> a | b} for a row. */
record SqlScript(List<Step> steps) {
    private static final String ANSWER = "--> ";

    /**
     * @param answers the rows it promises; empty when it promises nothing
     */
    record Step(String sql, List<String> answers) {}

    static SqlScript read(Path file) throws IOException {
        List<Step> steps = new ArrayList<>();
        StringBuilder sql = new StringBuilder();
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith(ANSWER)) {
                steps.get(steps.size() - 1).answers().add(line.substring(ANSWER.length()));
            } else if (!line.startsWith("--") && !line.isBlank()) {
                sql.append(line).append('\n');
                if (line.replaceFirst("--.*", "").strip().endsWith(";")) {
                    steps.add(new Step(sql.toString(), new ArrayList<>()));
                    sql.setLength(0);
                }
            }
        }
        return new SqlScript(List.copyOf(steps));
    }

    List<String> answers() {
        return steps.stream().flatMap(step -> step.answers().stream()).toList();
    }

    /** Runs one statement; its rows as psql shows them without frills. */
    static List<String> run(Connection connection, Step step) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            if (statement.execute(step.sql())) {
                ResultSet result = statement.getResultSet();
                while (result.next()) {
                    rows.add(row(result));
                }
            }
        }
        return rows;
    }

    private static String row(ResultSet result) throws SQLException {
        List<String> values = new ArrayList<>();
        for (int column = 1; column <= result.getMetaData().getColumnCount(); column++) {
            String value = result.getString(column);
            values.add(value == null ? "" : value);
        }
        return String.join(" | ", values);
    }
}
