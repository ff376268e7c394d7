package dev.windlass.internal.engine;

import dev.windlass.internal.database.Argument;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Dialect;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.database.SqlError;
import dev.windlass.internal.database.SqlType;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.SignStyle;
import java.time.temporal.ChronoField;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/** PostgreSQL 15 and newer: what the community supports, and what the tests run on. */
public final class PostgresDialect implements Dialect {
    private static final int OLDEST = 15;

    /** Connections (08), resources (53) and operator intervention (57). */
    private static final Set<String> OUTAGE_CLASSES = Set.of("08", "53", "57");

    /** Serialization failures and deadlocks. */
    private static final String ROLLBACK_CLASS = "40";

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final String CONNECTION_CLASS = "08";

    /** What a server says that ends, or is not yet there. */
    private static final String SHUTDOWNS = "57P0";

    private static final String TOO_MANY_CONNECTIONS = "53300";

    /** Also what a cancelled statement says; the server is there. */
    private static final String STATEMENT_TIMEOUT = "57014";

    /** Also what the driver says if an answer does not fit into the memory of this process. */
    private static final String OUT_OF_MEMORY = "53200";

    /** What a server says that has become a standby in a failover. */
    private static final String READ_ONLY = "25006";

    /** Years before our era, and of more than four digits. */
    private static final DateTimeFormatter FAR_TIME = new DateTimeFormatterBuilder()
            .appendValue(ChronoField.YEAR_OF_ERA, 4, 9, SignStyle.NEVER)
            .appendPattern("-MM-dd HH:mm:ss.SSSSSSSSSX G")
            .toFormatter(Locale.ENGLISH);

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public String servers() {
        return "PostgreSQL " + OLDEST + " or newer";
    }

    @Override
    public boolean supports(DatabaseMetaData server) throws SQLException {
        return server.getDatabaseMajorVersion() >= OLDEST;
    }

    @Override
    public String quote(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }

    @Override
    public String literal(String text) {
        String quoted = '\'' + text.replace("'", "''") + '\'';
        return text.indexOf('\\') < 0 ? quoted : 'E' + quoted.replace("\\", "\\\\");
    }

    @Override
    public String call(String schema, String routine, List<Argument> arguments) {
        return "select * from " + invocation(schema, routine, arguments);
    }

    @Override
    public String callTogether(String schema, List<String> routines, List<List<Argument>> arguments) {
        StringJoiner all = new StringJoiner(" union all ", "", " order by 1");
        for (int i = 0; i < routines.size(); i++) {
            all.add("select " + i + " as place, c.* from " + invocation(schema, routines.get(i), arguments.get(i))
                    + " c");
        }
        return all.toString();
    }

    /**
     * The routine has run when the first row comes, and what is asked beside the rows is asked then. The snapshot is that of this
     * statement, which is older than the one that the routine has seen: what had ended in it had ended in that one too.
     */
    @Override
    public String callOfClaim(String schema, String routine, List<Argument> arguments, List<String> columns) {
        String wanted = columns.isEmpty() ? "c.*" : "c." + String.join(", c.", columns);
        return "select " + wanted + ", (select pg_current_xact_id_if_assigned()::text::bigint) as claim_number,"
                + " (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint) as snapshot_xmin from "
                + invocation(schema, routine, arguments) + " c";
    }

    @Override
    public Call.RowMapper<Proof> proofs(ResultSet rows) throws SQLException {
        int number = rows.findColumn("claim_number");
        int xmin = rows.findColumn("snapshot_xmin");
        return row -> new Snapshot(row.getLong(number), row.getLong(xmin));
    }

    /**
     * A look at the database.
     *
     * @param number that of its transaction
     * @param xmin the oldest transaction that was running in its snapshot
     */
    private record Snapshot(long number, long xmin) implements Proof {
        @Override
        public boolean covers(Proof earlier) {
            return earlier instanceof Snapshot before && xmin > before.number;
        }
    }

    /** Without a FROM, which would cost a function scan. */
    @Override
    public String callForValue(String schema, String routine, List<Argument> arguments) {
        return "select " + invocation(schema, routine, arguments);
    }

    private String invocation(String schema, String routine, List<Argument> arguments) {
        StringBuilder text = new StringBuilder(quote(schema))
                .append('.')
                .append(quote(routine))
                .append('(');
        for (int i = 0; i < arguments.size(); i++) {
            Argument argument = arguments.get(i);
            text.append(i == 0 ? "" : ", ")
                    .append(argument.name() == null ? "" : argument.name() + " => ")
                    .append(placeholder(argument.type()));
        }
        return text.append(')').toString();
    }

    private static String placeholder(SqlType type) {
        return switch (type) {
            case BOOLEAN, UUID -> "?";
            case INTEGER -> "?::integer";
            case LONG -> "?::bigint";
            case LONGS -> "?::bigint[]";
            case BOOLEANS -> "?::boolean[]";
            case TEXT -> "?::text";
            case JSON -> "?::jsonb";
            case INSTANT -> "?::timestamptz";
            case DURATION -> "?::interval";
            case INTEGERS -> "?::integer[]";
            case TEXTS -> "?::text[]";
            case UUIDS -> "?::uuid[]";
            case INSTANTS -> "?::timestamptz[]";
            case DURATIONS -> "?::interval[]";
        };
    }

    @Override
    public void bind(PreparedStatement statement, int index, SqlType type, @Nullable Object value) throws SQLException {
        if (value instanceof List<?> list && type == SqlType.UUIDS) {
            statement.setObject(index, uuids(list), Types.OTHER);
        } else if (value instanceof List<?> list) {
            statement.setArray(index, statement.getConnection().createArrayOf(elementType(type), elements(type, list)));
        } else if (value == null) {
            statement.setNull(index, jdbcType(type));
        } else if (value instanceof Instant instant) {
            statement.setObject(index, time(instant));
        } else if (value instanceof Duration duration) {
            statement.setString(index, interval(duration));
        } else {
            statement.setObject(index, value);
        }
    }

    /** As the server writes it. The driver would quote each, and look for what to escape in it, which took a sixth of a drain's time. */
    private static String uuids(List<?> list) {
        StringBuilder text = new StringBuilder(2 + 37 * list.size()).append('{');
        for (int i = 0; i < list.size(); i++) {
            text.append(i == 0 ? "" : ",").append(list.get(i));
        }
        return text.append('}').toString();
    }

    /** Without it the server would have to parse a statement again whenever a value follows a null. */
    private static int jdbcType(SqlType type) {
        return switch (type) {
            case BOOLEAN -> Types.BOOLEAN;
            case INTEGER -> Types.INTEGER;
            case LONG -> Types.BIGINT;
            case TEXT, DURATION -> Types.VARCHAR;
            case INSTANT -> Types.TIMESTAMP_WITH_TIMEZONE;
            default -> Types.NULL;
        };
    }

    private static String elementType(SqlType type) {
        return switch (type) {
            case BOOLEANS -> "bool";
            case INTEGERS -> "int4";
            case LONGS -> "int8";
            default -> "text";
        };
    }

    private static Object[] elements(SqlType type, List<?> list) {
        return switch (type) {
            case BOOLEANS -> list.toArray(new Boolean[0]);
            case INTEGERS -> list.toArray(new Integer[0]);
            case LONGS -> list.toArray(new Long[0]);
            case TEXTS -> list.toArray();
            case INSTANTS -> list.stream().map(PostgresDialect::timeText).toArray();
            case DURATIONS ->
                list.stream()
                        .map(e -> e == null ? null : interval((Duration) e))
                        .toArray();
            default -> throw new IllegalArgumentException("expected the type of a list, got " + type);
        };
    }

    /** In whole microseconds, as the server has them, rounded up: what is longer than nothing must not become nothing. */
    private static String interval(Duration duration) {
        int beyond = duration.toNanosPart() % 1000;
        return (beyond == 0 ? duration : duration.plusNanos(1000 - beyond)).toString();
    }

    /** What the driver reads infinity as is infinity again, so that whatever was read can be given back. */
    private static OffsetDateTime time(Instant instant) {
        if (instant.compareTo(OffsetDateTime.MIN.toInstant()) <= 0) {
            return OffsetDateTime.MIN;
        }
        return instant.compareTo(OffsetDateTime.MAX.toInstant()) >= 0
                ? OffsetDateTime.MAX
                : instant.atOffset(ZoneOffset.UTC);
    }

    private static @Nullable String timeText(@Nullable Object instant) {
        if (instant == null) {
            return null;
        }
        OffsetDateTime time = time((Instant) instant);
        if (time.equals(OffsetDateTime.MIN) || time.equals(OffsetDateTime.MAX)) {
            return time.getYear() < 0 ? "-infinity" : "infinity";
        }
        return time.getYear() > 0 && time.getYear() <= 9999 ? instant.toString() : FAR_TIME.format(time);
    }

    @Override
    public boolean isTransient(SQLException e) {
        String state = SqlError.state(e);
        return isOutage(e)
                || PoolTimeout.is(e)
                || state.startsWith(ROLLBACK_CLASS)
                || isLackOfMemory(e)
                || state.equals(LOCK_NOT_AVAILABLE)
                || state.equals(STATEMENT_TIMEOUT);
    }

    @Override
    public boolean isOutage(SQLException e) {
        String state = SqlError.state(e);
        if (isLackOfMemory(e)) {
            return false;
        }
        return state.isEmpty()
                ? isTransientByType(e) && !PoolTimeout.is(e)
                : (OUTAGE_CLASSES.contains(state.substring(0, 2)) && !state.equals(STATEMENT_TIMEOUT))
                        || state.equals(READ_ONLY);
    }

    @Override
    public boolean isAnswer(SQLException e) {
        String state = SqlError.state(e);
        return !state.isEmpty()
                && !state.startsWith(CONNECTION_CLASS)
                && !state.startsWith(SHUTDOWNS)
                && !state.equals(TOO_MANY_CONNECTIONS)
                && !state.equals(READ_ONLY)
                && !PoolTimeout.is(e);
    }

    @Override
    public boolean isLocked(SQLException e) {
        return SqlError.state(e).equals(LOCK_NOT_AVAILABLE);
    }

    @Override
    public boolean isLackOfMemory(SQLException e) {
        return SqlError.state(e).equals(OUT_OF_MEMORY) || e.getCause() instanceof OutOfMemoryError;
    }

    private static boolean isTransientByType(SQLException e) {
        return SqlError.isA(SQLTransientException.class, e) || SqlError.isA(SQLRecoverableException.class, e);
    }

    @Override
    public String describe(SQLException e) {
        return PostgresErrors.describe(e);
    }

    @Override
    public boolean isInTransaction(Connection connection) throws SQLException {
        return connection.isWrapperFor(BaseConnection.class)
                && connection.unwrap(BaseConnection.class).getTransactionState() != TransactionState.IDLE;
    }

    @Override
    public boolean spoilsConnection(SQLException e) {
        return READ_ONLY.equals(e.getSQLState());
    }

    @Override
    public boolean isReadOnly(Connection connection) throws SQLException {
        try (Statement asks = connection.createStatement();
                ResultSet row = asks.executeQuery(
                        "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /** Whoever waited for the lock must see what the one before it did, whatever isolation is the database's default. */
    @Override
    public void lockForMigration(Connection connection, String schema) throws SQLException {
        try (Statement isolation = connection.createStatement()) {
            isolation.execute("set transaction isolation level read committed");
        }
        try (PreparedStatement lock =
                connection.prepareStatement("select pg_advisory_xact_lock(hashtextextended(?, 20261115))")) {
            lock.setString(1, "windlass migration of " + schema);
            lock.execute();
        }
    }

    @Override
    public void limitLockWaits(Connection connection, Duration patience) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("set local lock_timeout = " + patience.toMillis());
        }
    }

    @Override
    public void cancel(Connection connection) throws SQLException {
        connection.unwrap(PGConnection.class).cancelQuery();
    }

    @Override
    public boolean tableExists(Connection connection, String schema, String table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select to_regclass(?) is not null")) {
            statement.setString(1, quote(schema) + "." + quote(table));
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    @Override
    public Set<String> routines(Connection connection, String schema) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = ?")) {
            statement.setString(1, schema);
            Set<String> names = new HashSet<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    names.add(rows.getString(1));
                }
            }
            return names;
        }
    }

    @Override
    public Subscription listen(Connection connection) throws SQLException {
        return new PostgresSubscription(this, connection);
    }

    @Override
    public void endListening(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("unlisten *");
        }
    }

    @Override
    public void send(Connection connection, String channel, String message) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select pg_notify(?, ?)")) {
            statement.setString(1, channel);
            statement.setString(2, message);
            statement.execute();
        }
    }
}
