package dev.windlass.cli.doctor;

import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.schema.Component;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * The database that is looked at.
 *
 * @param expected all that this program brings along, under the names that were asked for
 * @param older how old a transaction may be
 */
public record Patient(
        DataSource dataSource, Connection connection, String schema, List<Component> expected, Duration older) {
    static final String SEE_OTHER_USERS = "Grant pg_monitor to this user, or ask as another one.";

    private static final PostgresDialect DIALECT = new PostgresDialect();

    /**
     * A queue, by the word that its commands stand behind.
     *
     * @param hasHandlers whether programs handle what is in it; else it becomes messages of the outbox
     */
    record Queue(String word, String table, boolean hasHandlers) {}

    /** One row of an answer. */
    @FunctionalInterface
    interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    static PostgresDialect dialect() {
        return DIALECT;
    }

    String quoted(String name) {
        return DIALECT.quote(schema) + "." + DIALECT.quote(name);
    }

    <T> List<T> list(String sql, Reader<T> reader, Object... arguments) throws SQLException {
        List<T> rows = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setQueryTimeout(30);
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows.add(reader.read(row));
                }
            }
        }
        return rows;
    }

    <T> T one(String sql, Reader<T> reader, Object... arguments) throws SQLException {
        return list(sql, reader, arguments).get(0);
    }

    String setting(String name) throws SQLException {
        return one("select current_setting(?)", row -> row.getString(1), name);
    }

    /** Whether what sessions of other users do, and of which kind they are, is shown to this one. */
    boolean seesOtherUsers() throws SQLException {
        return one("select pg_has_role('pg_read_all_stats', 'usage')", row -> row.getBoolean(1));
    }

    /** Those of the components whose tables are there. */
    List<Component> installed() throws SQLException {
        List<Component> installed = new ArrayList<>();
        for (Component component : expected) {
            boolean isThere = one(
                    "select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace"
                            + " where n.nspname = ? and c.relname = ?)",
                    row -> row.getBoolean(1),
                    schema,
                    mainTable(component));
            if (isThere) {
                installed.add(component);
            }
        }
        return installed;
    }

    private static String mainTable(Component component) {
        return switch (component.name()) {
            case "windlass" -> "windlass_version";
            case "schedule" -> component.tableName() + "_job";
            default -> component.tableName();
        };
    }

    List<Queue> queues() throws SQLException {
        return installed().stream().flatMap(Patient::queues).toList();
    }

    private static Stream<Queue> queues(Component component) {
        String table = component.tableName();
        return switch (component.name()) {
            case "outbox", "inbox" -> Stream.of(new Queue(component.name(), table, true));
            case "work" -> Stream.of(new Queue("queue", table, true));
            case "schedule" ->
                Stream.of(new Queue("timers", table + "_timer", false), new Queue("runs", table + "_job_run", false));
            default -> Stream.empty();
        };
    }
}
