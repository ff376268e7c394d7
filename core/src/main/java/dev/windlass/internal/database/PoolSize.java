package dev.windlass.internal.database;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import javax.sql.DataSource;

/** How many connections a pool has at most, where its class tells. */
public final class PoolSize {
    /** HikariCP; DBCP; Tomcat and Druid; c3p0 and UCP. */
    private static final List<String> KNOWN =
            List.of("getMaximumPoolSize", "getMaxTotal", "getMaxActive", "getMaxPoolSize");

    private static final int DEEP = 5;

    private PoolSize() {}

    public static OptionalInt of(DataSource dataSource) {
        Object source = dataSource;
        for (int depth = 0; source instanceof DataSource && depth < DEEP; depth++) {
            for (String getter : KNOWN) {
                if (call(source, getter).orElse(null) instanceof Integer size && size > 0) {
                    return OptionalInt.of(size);
                }
            }
            source = call(source, "getTargetDataSource").orElse(null); // of Spring's proxies
        }
        return OptionalInt.empty();
    }

    private static Optional<Object> call(Object source, String getter) {
        try {
            Method method = source.getClass().getMethod(getter);
            return Optional.ofNullable(method.invoke(source));
        } catch (ReflectiveOperationException | RuntimeException e) {
            return Optional.empty(); // it is a hint, no more
        }
    }
}
