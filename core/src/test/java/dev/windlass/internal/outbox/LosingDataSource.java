package dev.windlass.internal.outbox;

import dev.windlass.EngineDatabase;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Loses the answers of a number of queries: the database has done and committed what was asked, and nobody learns of it. */
public final class LosingDataSource implements DataSource {
    private final EngineDatabase real;
    private final AtomicInteger toLose = new AtomicInteger();
    private final AtomicBoolean losesCommit = new AtomicBoolean();

    public LosingDataSource(EngineDatabase real) {
        this.real = real;
    }

    public void loseAnswers(int count) {
        toLose.set(count);
    }

    /** The answer to the next commit is lost, too. */
    public void loseCommit() {
        losesCommit.set(true);
    }

    /** How many of them are still to be lost. */
    public int left() {
        return toLose.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        return wrap(
                Connection.class,
                real.connect(),
                result -> result instanceof PreparedStatement statement
                        ? wrap(PreparedStatement.class, statement, this::lose)
                        : result);
    }

    private @Nullable Object lose(@Nullable Object result) throws SQLException {
        if (result instanceof ResultSet && toLose.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
            throw lost();
        }
        return result;
    }

    private void lose(Method method) throws SQLException {
        if (method.getName().equals("commit") && losesCommit.compareAndSet(true, false)) {
            throw lost();
        }
    }

    private static SQLException lost() {
        return new SQLException("an I/O error occurred while sending to the backend", "08006");
    }

    private interface Change {
        @Nullable
        Object apply(@Nullable Object result) throws SQLException;
    }

    private <T> T wrap(Class<T> type, T target, Change change) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(target, arguments);
                        lose(method);
                        return change.apply(result);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLogWriter(PrintWriter out) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLoginTimeout(int seconds) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger("losing");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("nothing to unwrap");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
