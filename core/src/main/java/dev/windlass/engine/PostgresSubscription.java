package dev.windlass.engine;

import dev.windlass.runtime.Dialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** LISTEN through the driver's own API; apart from the dialect, so that the driver's classes are loaded only here. */
final class PostgresSubscription implements Dialect.Subscription {
    private final Connection connection;
    private final PGConnection driver;

    PostgresSubscription(Connection connection) throws SQLException {
        this.connection = connection;
        this.driver = connection.unwrap(PGConnection.class);
    }

    @Override
    public void await(int millis, Consumer<String> receiver) throws SQLException {
        PGNotification[] notifications = driver.getNotifications(millis);
        if (notifications != null) {
            for (PGNotification notification : notifications) {
                receiver.accept(notification.getParameter());
            }
        }
    }

    @Override
    public void cancel() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("unlisten *");
        }
    }
}
