package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.FleetBuilder;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.event.WindlassListener;
import dev.windlass.store.Store;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Begins builders as the starter does, for applications that make a {@link Windlass} or a {@link Fleet} of their own: with their properties, annotated
 * methods, jobs, listeners, customizers, and the transactions of Spring that are joined. A bean.
 *
 * <pre>{@code
 * @Bean
 * Windlass windlass(WindlassConfigurer configurer, DataSource pool, @Qualifier("direct") DataSource direct) {
 *     return configurer.on(pool).backgroundDataSource(direct).build();
 * }
 * }</pre>
 *
 * <p>It is started when the context is ready, and closed before its data source is.
 */
public final class WindlassConfigurer {
    private final WindlassProperties properties;
    private final WindlassDescription description;
    private final ObjectProvider<WindlassListener> listeners;
    private final ObjectProvider<FleetCustomizer> customizers;
    private volatile boolean used;

    WindlassConfigurer(
            WindlassProperties properties,
            WindlassDescription description,
            ObjectProvider<WindlassListener> listeners,
            ObjectProvider<FleetCustomizer> customizers) {
        this.properties = properties;
        this.description = description;
        this.listeners = listeners;
        this.customizers = customizers;
    }

    /**
     * Begins to describe a Windlass on a data source. With {@code windlass.ensure-schema} its schema is made when it starts; if beans write before that,
     * call {@link WindlassBuilder#migrator} first.
     *
     * @param dataSource as beans have it; of proxies that follow transactions, or are lazy, it takes what is behind them
     */
    public WindlassBuilder on(DataSource dataSource) {
        used = true;
        DataSource source = TransactionManagers.unwrapped(dataSource);
        DataSource pool = TransactionManagers.underneath(source);
        PoolOfOne.refuse(properties, pool);
        WindlassBuilder builder = Windlass.on(pool);
        listeners.orderedStream().forEach(builder::listener);
        description.applyTo(builder, source, null);
        return builder;
    }

    /** Says of a fleet, and of each of its stores, what the starter would. The data source of a store is a pool, not a proxy around one. */
    public FleetBuilder configure(FleetBuilder builder) {
        return configure(builder, SpringTransactions::source);
    }

    /**
     * @param sources those of stores, as transaction managers know them
     */
    FleetBuilder configure(FleetBuilder builder, Function<Store, @Nullable DataSource> sources) {
        used = true;
        refuseWhatCannotBe();
        builder.options(PropertiesToOptions.fleet(properties.fleet())).health(description.health());
        builder.each((store, windlass) -> description.applyTo(windlass, sources.apply(store), store));
        listeners.orderedStream().forEach(builder::listener);
        if (ensuresSchema()) {
            builder.ensureSchema();
        }
        customizers.orderedStream().forEach(each -> each.customize(builder));
        return builder;
    }

    /** Once now: when a store is opened, it would only be a store that cannot be opened. */
    private void refuseWhatCannotBe() {
        DriverManagerDataSource nowhere = new DriverManagerDataSource();
        description.applyHandlers(Windlass.on(nowhere), Store.of("nowhere", nowhere));
        description.refuseManagerOfNoStore();
    }

    boolean ensuresSchema() {
        return Boolean.TRUE.equals(properties.ensureSchema());
    }

    /** Whether anybody has taken a builder; if not, what the application says of its Windlass is known to nobody. */
    boolean isUsed() {
        return used;
    }

    boolean isToHandleWork() {
        return properties.workers();
    }
}
