package dev.windlass.internal.inbox;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the statements that are executed, and can lose the answers of some: the database has done and committed what was
 * asked, and nobody learns of it.
 */
final class ProbedDataSource {
    private final List<String> statements = new CopyOnWriteArrayList<>();
    private final AtomicInteger toLose = new AtomicInteger();
    private final DataSource source;

    ProbedDataSource(DataSource real) {
        this.source = wrap(
                DataSource.class,
                real,
                (method, result, unused) -> result instanceof Connection connection
                        ? wrap(Connection.class, connection, this::ofConnection)
                        : result);
    }

    DataSource source() {
        return source;
    }

    void loseAnswers(int count) {
        toLose.set(count);
    }

    int answersToLose() {
        return toLose.get();
    }

    List<String> statements() {
        return statements;
    }

    boolean saw(String part) {
        return statements.stream().anyMatch(sql -> sql.contains(part));
    }

    private @Nullable Object ofConnection(Method method, @Nullable Object result, @Nullable Object[] arguments) {
        return result instanceof PreparedStatement statement
                ? wrap(
                        PreparedStatement.class,
                        statement,
                        (called, answer, unused) -> ofStatement(called, answer, String.valueOf(arguments[0])))
                : result;
    }

    private @Nullable Object ofStatement(Method method, @Nullable Object answer, String sql) throws Exception {
        if (method.getName().startsWith("execute")) {
            statements.add(sql);
            if (toLose.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                throw new java.sql.SQLException("an I/O error occurred while sending to the backend", "08006");
            }
        }
        return answer;
    }

    private interface Change {
        @Nullable
        Object apply(Method method, @Nullable Object result, @Nullable Object[] arguments) throws Exception;
    }

    private static <T> T wrap(Class<T> type, T target, Change change) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        Object[] given = arguments == null ? new Object[0] : arguments;
                        return change.apply(method, method.invoke(target, given), given);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
