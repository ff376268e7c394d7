package dev.windlass.node;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** Small pools whose patience is short. */
public final class Pools {

    private Pools() {}

    public static HikariDataSource of(DataSource source, int size) {
        return of(source, size, config -> {});
    }

    public static HikariDataSource of(DataSource source, int size, Consumer<HikariConfig> change) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2000);
        config.setInitializationFailTimeout(-1);
        change.accept(config);
        return new HikariDataSource(config);
    }

    /** What happens before each connection is handed out; it may throw, or take its time. */
    interface Borrow {
        void run() throws Exception;
    }

    static DataSource before(DataSource real, Borrow borrow) {
        return (DataSource) Proxy.newProxyInstance(
                Pools.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getConnection")) {
                        borrow.run();
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
