package dev.windlass.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.database.SqlType;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever time SQL accepts, Java reads; and what it has read it can give back, as the place where to go on. */
final class FarTimesTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "infinity",
                "-infinity",
                "2026-11-16 12:00:00.123456+00",
                "0044-03-15 12:00:00+00 BC",
                "4713-01-01 00:00:00+00 BC",
                "0001-01-01 00:00:00+00",
                "10000-01-01 00:00:00+00",
                "294276-12-31 23:59:59.999999+00"
            })
    void whatIsReadIsGivenBackAsItWas(String written) throws SQLException {
        try (Connection connection = database.owner().getConnection()) {
            Instant read = read(connection, written);

            assertThat(isSame(connection, "?::timestamptz", SqlType.INSTANT, read, written))
                    .isTrue();
            assertThat(isSame(connection, "(?::timestamptz[])[1]", SqlType.INSTANTS, List.of(read), written))
                    .isTrue();
        }
    }

    private static Instant read(Connection connection, String written) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select ?::timestamptz")) {
            statement.setString(1, written);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return Instants.instant(row, 1);
            }
        }
    }

    private static boolean isSame(Connection connection, String bound, SqlType type, Object value, String written)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("select " + bound + " = '" + written + "'::timestamptz")) {
            new PostgresDialect().bind(statement, 1, type, value);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }
}
