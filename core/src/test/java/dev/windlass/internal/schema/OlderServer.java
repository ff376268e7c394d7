package dev.windlass.internal.schema;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The server of the tests, which says that it is PostgreSQL 14: one that age is in no build any more. */
final class OlderServer {

    private OlderServer() {}

    static DataSource of(DataSource real) {
        return wrap(DataSource.class, real);
    }

    private static <T> T wrap(Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> switch (method.getName()) {
                    case "getDatabaseMajorVersion" -> 14;
                    case "getDatabaseProductVersion" -> "14.23";
                    default -> {
                        try {
                            yield older(method.invoke(real, arguments));
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    }
                }));
    }

    private static @Nullable Object older(@Nullable Object answer) {
        if (answer instanceof Connection connection) {
            return wrap(Connection.class, connection);
        }
        return answer instanceof DatabaseMetaData server ? wrap(DatabaseMetaData.class, server) : answer;
    }
}
