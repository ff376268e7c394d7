package dev.windlass.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.windlass.TestDatabase;
import dev.windlass.Told;
import dev.windlass.internal.database.Dialect;
import dev.windlass.internal.database.SafeCopies;
import java.io.IOException;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;

/** What is told of an error, and what is left out. */
final class ToldErrorsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String SECRET = "s3cr3t";
    private static final Dialect DIALECT = new PostgresDialect();

    private static SQLException errorOf(String sql) {
        return catchThrowableOfType(SQLException.class, () -> {
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            select from nowhere             | relation "nowhere" does not exist (SQLSTATE 42P01)
            select nothing()                | function nothing() does not exist (SQLSTATE 42883)
            select from pg_authid           | permission denied for table pg_authid (SQLSTATE 42501)
            """)
    void whatCannotQuoteARowIsToldInTheServersWords(String sql, String told) {
        assertThat(DIALECT.describe(errorOf(sql))).isEqualTo(told);
    }

    @ParameterizedTest
    @ValueSource(strings = {"execute nothing", "prepare twice as select 1; prepare twice as select 1"})
    void statementsThatAPoolerHasMixedUpSayWhatToDo(String sql) {
        assertThat(DIALECT.describe(errorOf(sql)))
                .startsWith("prepared statement ")
                .contains("give the driver prepareThreshold=0");
    }

    @Test
    void aSqlFunctionThatMakesNamesOfValuesIsNotQuoted() {
        SQLException raw = errorOf("do $$ begin execute 'select ' || '" + SECRET + "'; end $$");
        assertThat(Told.by(raw)).contains(SECRET);
        assertThat(DIALECT.describe(raw)).contains("SQLSTATE 42703").doesNotContain(SECRET);
    }

    static Stream<Throwable> quotingErrors() throws Exception {
        PSQLException value = new PSQLException(
                "Bad value for type int : " + SECRET,
                PSQLState.NUMERIC_VALUE_OUT_OF_RANGE,
                new NumberFormatException("For input string: " + SECRET));
        SQLException row = errorOf("select '" + SECRET + "'::integer");
        BatchUpdateException batch = new BatchUpdateException(
                "Batch entry 0 insert into a values ('" + SECRET + "') was aborted", new int[0], row);
        SQLException next = new SQLException("statement failed", "57014");
        next.setNextException(row);
        SQLException suppressing = new SQLException("statement failed", "57014");
        suppressing.addSuppressed(new IllegalStateException("could not close", row));
        SQLException circle = new SQLException(SECRET, "XX000");
        circle.initCause(new IllegalStateException(SECRET, circle));
        return Stream.of(
                value,
                row,
                batch,
                next,
                suppressing,
                circle,
                new SQLException(SECRET),
                new RuntimeException(row),
                new IllegalStateException("insert failed; " + row.getMessage(), row),
                new IOException(new RuntimeException("insert failed", batch)));
    }

    @ParameterizedTest
    @MethodSource("quotingErrors")
    void neitherCausesNorSuppressedNorNextOnesQuoteARow(Throwable raw) {
        assertThat(Told.by(raw)).contains(SECRET);
        Throwable safe = SafeCopies.of(raw, DIALECT);
        assertThat(Told.by(safe)).doesNotContain(SECRET);
        assertThat(safe.getStackTrace()).isEqualTo(raw.getStackTrace());
    }

    @Test
    void whatAWrapperSaysItselfIsKept() {
        SQLException row = errorOf("select '" + SECRET + "'::integer");
        Throwable safe = SafeCopies.of(new IllegalStateException("no order 7; " + row.getMessage(), row), DIALECT);
        assertThat(safe)
                .hasToString("java.lang.IllegalStateException: no order 7; " + DIALECT.describe(row))
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class,
                        cause -> assertThat(cause.getSQLState()).isEqualTo("22P02"));
    }

    @Test
    void whatHasNothingToHideIsNotCopied() {
        Throwable plain = new IllegalStateException("broken", new IOException("pipe"));
        assertThat(SafeCopies.of(plain, DIALECT)).isSameAs(plain);
        SQLException safe = SafeCopies.of(new SQLException("x", "23505"), DIALECT);
        assertThat((Throwable) SafeCopies.of(safe, DIALECT)).isSameAs(safe);
    }

    @Test
    void theNetworksPartInAnErrorIsKept() {
        SQLException refused = new PSQLException(
                "Connection refused", PSQLState.CONNECTION_UNABLE_TO_CONNECT, new IOException("no route to host"));
        SQLException pools = new SQLTransientConnectionException("pool 1 timed out", "08001", refused);
        assertThat(Told.by(SafeCopies.of(pools, DIALECT)))
                .contains("pool 1 timed out (SQLSTATE 08001)", "Connection refused", "no route to host");
    }

    @Test
    void aCopyIsWorthAnotherTryIfTheOriginalWas() {
        SQLException pools = new SQLTransientConnectionException("timed out", new SQLException("?", "08001"));
        SQLException busy = new SQLTransientConnectionException("timed out");
        busy.addSuppressed(new SQLException("?"));
        for (SQLException e : new SQLException[] {pools, busy, new SQLException("?", "40P01")}) {
            SQLException copy = SafeCopies.of(e, DIALECT);
            assertThat((Throwable) copy).isNotSameAs(e);
            assertThat(DIALECT.isTransient(copy)).isTrue();
            assertThat(DIALECT.isOutage(copy)).isEqualTo(DIALECT.isOutage(e));
        }
        assertThat(DIALECT.isOutage(pools)).isTrue();
        assertThat(DIALECT.isOutage(busy)).isFalse();
    }
}
