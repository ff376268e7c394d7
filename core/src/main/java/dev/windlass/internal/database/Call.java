package dev.windlass.internal.database;

import static dev.windlass.internal.database.Columns.each;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One call of a stored routine: name it, give the arguments in order, read the rows. */
public final class Call {
    private final Dialect dialect;
    private final Connection connection;
    private final String schema;
    private final String routine;
    private final List<Argument> arguments = new ArrayList<>(9);

    Call(Dialect dialect, Connection connection, String schema, String routine) {
        this.dialect = dialect;
        this.connection = connection;
        this.schema = schema;
        this.routine = routine;
    }

    public Call bool(boolean value) {
        return argument(SqlType.BOOLEAN, value);
    }

    public Call bools(@Nullable List<@Nullable Boolean> values) {
        return argument(SqlType.BOOLEANS, values);
    }

    public Call integer(@Nullable Integer value) {
        return argument(SqlType.INTEGER, value);
    }

    public Call integers(@Nullable List<Integer> values) {
        return argument(SqlType.INTEGERS, values);
    }

    public Call number(@Nullable Long value) {
        return argument(SqlType.LONG, value);
    }

    public Call numbers(List<Long> values) {
        return argument(SqlType.LONGS, values);
    }

    public Call text(@Nullable String value) {
        return argument(SqlType.TEXT, value);
    }

    public Call texts(@Nullable List<@Nullable String> values) {
        return argument(SqlType.TEXTS, values);
    }

    public Call json(@Nullable String value) {
        return argument(SqlType.JSON, value);
    }

    public Call uuid(@Nullable UUID value) {
        return argument(SqlType.UUID, value);
    }

    public Call uuids(@Nullable List<UUID> values) {
        return argument(SqlType.UUIDS, values);
    }

    public Call instant(@Nullable Instant value) {
        return argument(SqlType.INSTANT, value);
    }

    public Call instants(@Nullable List<@Nullable Instant> values) {
        return argument(SqlType.INSTANTS, values);
    }

    public Call duration(@Nullable Duration value) {
        return argument(SqlType.DURATION, value);
    }

    public Call durations(@Nullable List<@Nullable Duration> values) {
        return argument(SqlType.DURATIONS, values);
    }

    private Call argument(SqlType type, @Nullable Object value) {
        arguments.add(new Argument(null, type, value));
        return this;
    }

    /** Adds an argument by its name, behind all that are told by their place; none, if it is null: then its default holds. */
    public Call optional(String name, SqlType type, @Nullable Object value) {
        if (value != null) {
            arguments.add(new Argument(name, type, value));
        }
        return this;
    }

    /** Calls the routine and maps every row of its result. */
    public <T> List<T> list(RowMapper<T> mapper) throws SQLException {
        return run(dialect.call(schema, routine, arguments), mapper);
    }

    /** Makes several calls in one statement, each of a routine that answers with one row of the same columns, and maps these rows. */
    public static <T> List<T> together(List<Call> calls, RowMappers<T> mappers) throws SQLException {
        Call first = calls.get(0);
        Call all = new Call(first.dialect, first.connection, first.schema, "");
        for (Call call : calls) {
            all.arguments.addAll(call.arguments);
        }
        return all.read(
                first.dialect.callTogether(
                        first.schema, each(calls, call -> call.routine), each(calls, call -> call.arguments)),
                mappers);
    }

    /**
     * Calls a claim: its rows also tell what proves how far it has come.
     *
     * @param columns which ones of the rows; all, if it is empty
     */
    public <T> List<T> claimed(List<String> columns, RowMappers<T> mappers) throws SQLException {
        return read(dialect.callOfClaim(schema, routine, arguments, columns), mappers);
    }

    /** Calls the routine, and looks up the columns of its result once. */
    public <T> List<T> rows(RowMappers<T> mappers) throws SQLException {
        return read(dialect.call(schema, routine, arguments), mappers);
    }

    /** Calls a routine that answers with one value. */
    public <T> T value(RowMapper<T> mapper) throws SQLException {
        return run(dialect.callForValue(schema, routine, arguments), mapper).get(0);
    }

    /** Calls a routine that answers with one number. */
    public int count() throws SQLException {
        return value(row -> row.getInt(1));
    }

    private <T> List<T> run(String sql, RowMapper<T> mapper) throws SQLException {
        return read(sql, rows -> mapper);
    }

    private <T> List<T> read(String sql, RowMappers<T> mappers) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < arguments.size(); i++) {
                Argument argument = arguments.get(i);
                dialect.bind(statement, i + 1, argument.type(), argument.value());
            }
            try (ResultSet rows = statement.executeQuery()) {
                RowMapper<T> mapper = mappers.of(rows);
                List<T> result = new ArrayList<>();
                while (rows.next()) {
                    result.add(mapper.map(rows));
                }
                return result;
            }
        } catch (SQLException e) {
            throw SafeCopies.of(e, dialect);
        } catch (RuntimeException e) {
            throw SafeCopies.unwrapped(e, dialect);
        }
    }

    /** Finds out where the columns of a result are. */
    @FunctionalInterface
    public interface RowMappers<T> {
        RowMapper<T> of(ResultSet rows) throws SQLException;
    }

    /** Makes a value of the row the cursor is on. */
    @FunctionalInterface
    public interface RowMapper<T> {
        T map(ResultSet row) throws SQLException;
    }
}
