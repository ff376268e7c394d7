package dev.windlass.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
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
            Finding deaf = found(hearing(connection, heard -> false));
            assertThat(deaf.verdict()).isEqualTo(Verdict.WARNING);
            assertThat(deaf.said()).contains("pooler in transaction mode");
            assertThat(deaf.remedy()).contains("backgroundDataSource");
        }
    }

    /** As through a pooler that hands out the same server connection twice. */
    @Test
    void aConnectionThatHearsItselfAloneIsDeaf() throws SQLException {
        try (Connection connection = SERVER.dataSource().getConnection()) {
            PGConnection driver = connection.unwrap(PGConnection.class);
            assertThat(found(hearing(connection, heard -> heard.getPID() == driver.getBackendPID()))
                            .verdict())
                    .isEqualTo(Verdict.WARNING);
            assertThat(found(hearing(connection, heard -> true)).verdict()).isEqualTo(Verdict.OK);
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

    private static Connection hearing(Connection connection, Predicate<PGNotification> which) throws SQLException {
        PGConnection real = connection.unwrap(PGConnection.class);
        PGConnection driver = (PGConnection) Proxy.newProxyInstance(
                PGConnection.class.getClassLoader(),
                new Class<?>[] {PGConnection.class},
                (proxy, method, arguments) -> {
                    PGNotification[] heard = real.getNotifications((int) arguments[0]);
                    return heard == null
                            ? heard
                            : Stream.of(heard).filter(which).toArray(PGNotification[]::new);
                });
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
