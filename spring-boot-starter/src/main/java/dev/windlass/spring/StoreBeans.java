package dev.windlass.spring;

import dev.windlass.base.WindlassOptions;
import dev.windlass.spring.Given.InvalidPropertyException;
import dev.windlass.spring.WindlassProperties.StoreProperties;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The databases of an application that has several, as far as they are listed: those of properties, and those that are beans. */
final class StoreBeans {
    private final ListableBeanFactory beans;
    private final SharedConnections connections;

    /** By the identifiers of their stores, as transaction managers know them. */
    private final Map<String, DataSource> sources = new ConcurrentHashMap<>();

    /**
     * @param connections for databases that are given by their addresses
     */
    StoreBeans(ListableBeanFactory beans, SharedConnections connections) {
        this.beans = beans;
        this.connections = connections;
    }

    /** Those that stay. */
    List<Store> listed(WindlassProperties properties) {
        Map<String, StoreProperties> given = properties.stores();
        List<Store> all = new ArrayList<>();
        Tables tables = new Tables(Objects.requireNonNullElse(
                properties.schema(), WindlassOptions.defaults().schemaName()));
        given.forEach((id, its) -> {
            Store store = onItsPool(store(id, its));
            tables.add(store, its.url() == null ? SpringTransactions.source(store) : its.url());
            all.add(store);
        });
        for (Store each : beans.getBeansOfType(Store.class).values()) {
            Store store = onItsPool(each);
            tables.add(store, SpringTransactions.source(store));
            all.add(store);
        }
        return all;
    }

    /** Those that come and go. */
    DatabaseDiscovery onTheirPools(DatabaseDiscovery discovery) {
        return () -> {
            Collection<Store> found = discovery.discover();
            // what is no store, the fleet refuses
            return found == null || found.stream().anyMatch(Objects::isNull)
                    ? found
                    : found.stream().map(this::onItsPool).toList();
        };
    }

    /** Windlass's own connections do not come from a proxy: those of one that is lazy look as if somebody's transaction had them. */
    private Store onItsPool(Store store) {
        DataSource source = SpringTransactions.source(store);
        if (source == null) {
            sources.remove(store.id());
            return store;
        }
        sources.put(store.id(), source);
        Store same = Store.of(store.id(), TransactionManagers.underneath(source));
        return store.schema().map(same::withSchema).orElse(same);
    }

    /** The data source of a store as transaction managers know it; none, if the store opens its own. */
    @Nullable
    DataSource source(Store store) {
        return sources.get(store.id());
    }

    /** Two stores with the same tables would each handle the messages of the other. */
    private static final class Tables {
        private final String usualSchema;
        private final Map<List<Object>, String> stores = new HashMap<>();

        Tables(String usualSchema) {
            this.usualSchema = usualSchema;
        }

        /**
         * @param database its address or its data source; null if nothing is known of it
         */
        void add(Store store, @Nullable Object database) {
            if (database == null) {
                return;
            }
            String schema = store.schema().orElse(usualSchema);
            String other = stores.putIfAbsent(List.of(database, schema), store.id());
            if (other != null && !other.equals(store.id())) {
                throw new InvalidPropertyException(
                        "windlass.stores",
                        other + " and " + store.id(),
                        "expected tables of its own for each store, got schema \"" + schema + "\" of one database for "
                                + other + " and " + store.id()
                                + "; give one of them another, by its property schema or by Store.withSchema",
                        null);
            }
        }
    }

    private Store store(String id, StoreProperties its) {
        Store store = Store.of(id, source("windlass.stores." + id, its));
        return its.schema() == null ? store : store.withSchema(its.schema());
    }

    private DataSource source(String property, StoreProperties its) {
        String url = its.url();
        String bean = its.dataSource();
        if (bean != null && url == null) {
            return TransactionManagers.unwrapped(named(beans, property + ".data-source", bean));
        }
        if (bean == null && url != null) {
            requireDriver(property + ".url", url);
            DriverManagerDataSource unpooled = new DriverManagerDataSource(url);
            unpooled.setUsername(its.username());
            unpooled.setPassword(its.password());
            return connections.to(unpooled);
        }
        throw new InvalidPropertyException(
                property,
                bean == null ? "neither" : "both",
                "expected either data-source, the name of a bean, or url",
                null);
    }

    /** A misspelt address would be a database that is away for ever. */
    private static void requireDriver(String property, String url) {
        try {
            var unused = DriverManager.getDriver(url);
        } catch (SQLException e) {
            throw new InvalidPropertyException(
                    property,
                    withoutSecrets(url),
                    "expected an address that a driver on the class path takes, such as"
                            + " jdbc:postgresql://host:5432/database, got " + withoutSecrets(url),
                    e);
        }
    }

    /** Without the parameters and the login, which may hold a password. */
    private static String withoutSecrets(String url) {
        return url.replaceFirst("\\?.*", "").replaceFirst("//[^/]*@", "//");
    }

    /**
     * The data source that a property names.
     *
     * @throws InvalidPropertyException if there is none of that name
     */
    static DataSource named(ListableBeanFactory beans, String property, String bean) {
        if (!beans.containsBean(bean) || !beans.isTypeMatch(bean, DataSource.class)) {
            throw new InvalidPropertyException(
                    property,
                    bean,
                    "expected the name of a bean that is a DataSource, got " + bean + "; there are "
                            + String.join(", ", beans.getBeanNamesForType(DataSource.class)),
                    null);
        }
        return beans.getBean(bean, DataSource.class);
    }
}
