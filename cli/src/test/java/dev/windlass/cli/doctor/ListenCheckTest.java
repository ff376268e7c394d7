package dev.windlass.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** A pooler in transaction mode: the connection that listened is not the one that hears. */
final class ListenCheckTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    @Test
    void notificationsThatDoNotArriveAreAWarning() throws SQLException {
        try (Connection connection = SERVER.dataSource().getConnection()) {
            assertThat(found(connection).verdict()).isEqualTo(Verdict.OK);
            Finding deaf = found(deaf(connection));
            assertThat(deaf.verdict()).isEqualTo(Verdict.WARNING);
            assertThat(deaf.said()).contains("pooler in transaction mode");
            assertThat(deaf.remedy()).contains("backgroundDataSource");
        }
    }

    private static Finding found(Connection connection) throws SQLException {
        Findings findings = new Findings("notifications");
        new ListenCheck()
                .look(
                        new Patient(SERVER.dataSource(), connection, "windlass", List.of(), Duration.ofMinutes(5)),
                        findings);
        return findings.all().get(0);
    }

    private static Connection deaf(Connection connection) {
        PGConnection driver = (PGConnection) Proxy.newProxyInstance(
                PGConnection.class.getClassLoader(),
                new Class<?>[] {PGConnection.class},
                (proxy, method, arguments) -> new PGNotification[0]);
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("unwrap")) {
                        return driver;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
