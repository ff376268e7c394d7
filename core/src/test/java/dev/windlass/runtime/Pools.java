package dev.windlass.runtime;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** Small pools whose patience is short. */
final class Pools {

    private Pools() {}

    static HikariDataSource of(DataSource source, int size) {
        return of(source, size, config -> {});
    }

    static HikariDataSource of(DataSource source, int size, Consumer<HikariConfig> change) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2000);
        config.setInitializationFailTimeout(-1);
        change.accept(config);
        return new HikariDataSource(config);
    }
}
