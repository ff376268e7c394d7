package dev.windlass.internal.outbox;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Connections on which LISTEN succeeds and nothing ever arrives, as behind a transaction-mode pooler. */
final class DeafDataSource implements DataSource {
    private final DataSource real;

    DeafDataSource(DataSource real) {
        this.real = real;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return deaf(real.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return deaf(real.getConnection(user, password));
    }

    private static Connection deaf(Connection connection) {
        return wrap(
                Connection.class,
                connection,
                (method, result) -> method.equals("unwrap") && result instanceof PGConnection driver
                        ? wrap(
                                PGConnection.class,
                                driver,
                                (name, value) -> name.equals("getNotifications") ? new PGNotification[0] : value)
                        : result);
    }

    private interface Change {
        Object apply(String method, Object result);
    }

    private static <T> T wrap(Class<T> type, T target, Change change) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return change.apply(method.getName(), method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return real.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        real.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        real.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return real.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger("deaf");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return real.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return real.isWrapperFor(type);
    }
}
