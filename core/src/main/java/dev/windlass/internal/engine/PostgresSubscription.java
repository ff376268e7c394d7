package dev.windlass.internal.engine;

import dev.windlass.internal.database.Dialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.BiConsumer;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** LISTEN through the driver's own API; apart from the dialect, so that the driver's classes are loaded only here. */
final class PostgresSubscription implements Dialect.Subscription {
    private final Dialect dialect;
    private final Connection connection;
    private final PGConnection driver;

    PostgresSubscription(Dialect dialect, Connection connection) throws SQLException {
        this.dialect = dialect;
        this.connection = connection;
        this.driver = connection.unwrap(PGConnection.class);
    }

    @Override
    public void await(int millis, BiConsumer<String, String> receiver) throws SQLException {
        PGNotification[] notifications = driver.getNotifications(millis);
        if (notifications != null) {
            for (PGNotification notification : notifications) {
                receiver.accept(notification.getName(), notification.getParameter());
            }
        }
    }

    @Override
    public void add(String channel) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("listen " + dialect.quote(channel));
        }
    }
}
