package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a routine answered, by the names that its columns have for other programs. */
record Row(Map<String, Optional<Object>> columns) {
    private static final int MAX_SECONDS = 30;
    private static final Pattern PART = Pattern.compile("_(\\w)");

    /**
     * Calls a routine.
     *
     * @param of what the rows are about, and the name of it
     * @param notices takes what the database remarks
     */
    static List<Row> list(
            Connection connection,
            String of,
            String name,
            Consumer<String> notices,
            String routine,
            Object... arguments)
            throws SQLException {
        String marks = String.join(", ", Collections.nCopies(arguments.length, "?"));
        List<Row> rows = new ArrayList<>();
        try (PreparedStatement statement =
                connection.prepareStatement("select * from " + routine + "(" + marks + ")")) {
            statement.setQueryTimeout(MAX_SECONDS);
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows.add(read(row, of, name));
                }
            }
            for (SQLWarning notice = statement.getWarnings(); notice != null; notice = notice.getNextWarning()) {
                notices.accept(name + ": " + notice.getMessage());
            }
        }
        return rows;
    }

    private static Row read(ResultSet row, String of, String name) throws SQLException {
        Map<String, Optional<Object>> columns = new LinkedHashMap<>();
        columns.put(of, Optional.of(name));
        ResultSetMetaData heads = row.getMetaData();
        for (int i = 1; i <= heads.getColumnCount(); i++) {
            String column = PART.matcher(heads.getColumnLabel(i))
                    .replaceAll(part -> part.group(1).toUpperCase(Locale.ROOT));
            columns.put(column, Optional.ofNullable(value(row, i, heads.getColumnType(i))));
        }
        return new Row(columns);
    }

    private static @Nullable Object value(ResultSet row, int column, int type) throws SQLException {
        if (type == Types.TIMESTAMP || type == Types.TIMESTAMP_WITH_TIMEZONE) {
            OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
            return time == null ? null : time.toInstant();
        }
        return row.getObject(column);
    }

    /** Only these columns, as far as they are there. */
    Row only(Set<String> names) {
        Map<String, Optional<Object>> some = new LinkedHashMap<>(columns);
        some.keySet().retainAll(names);
        return new Row(some);
    }

    Optional<Object> get(String name) {
        return columns.getOrDefault(name, Optional.empty());
    }

    String text(String name) {
        return get(name).map(Row::text).orElse("-");
    }

    private static String text(Object value) {
        return value instanceof Instant time ? Printable.seconds(time) : value.toString();
    }

    /** A number of milliseconds, in words. */
    String span(String name) {
        return get(name)
                .map(millis -> Span.fine(Duration.ofMillis(((Number) millis).longValue())))
                .orElse("-");
    }

    /** A number that counting stopped at is at least that. */
    String count(String name, long most) {
        return get(name)
                .map(number -> Count.upTo(most, ((Number) number).longValue()).toString())
                .orElse("-");
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        columns.forEach((name, value) -> {
            Object known = value.orElse(null);
            if (known instanceof BigDecimal number) {
                json.put(name, number);
            } else if (known instanceof Number number) {
                json.put(name, number.longValue());
            } else if (known instanceof Boolean truth) {
                json.put(name, truth);
            } else {
                json.put(name, known == null ? null : known.toString());
            }
        });
        return json;
    }
}
