package dev.windlass.spring;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.ReflectionUtils;

/** Finds the transaction managers of a data source, among those of the context. */
final class TransactionManagers {
    private final ListableBeanFactory beans;
    private final ObjectProvider<PlatformTransactionManager> primary;
    private final DataSource dataSource;
    private final @Nullable String chosen;

    /**
     * @param chosen the bean that somebody has chosen
     */
    TransactionManagers(
            ListableBeanFactory beans,
            ObjectProvider<PlatformTransactionManager> primary,
            DataSource dataSource,
            @Nullable String chosen) {
        this.beans = beans;
        this.primary = primary;
        this.dataSource = dataSource;
        this.chosen = chosen;
    }

    /** A data source as transaction managers know it: without a proxy that asks them. */
    static DataSource unwrapped(DataSource source) {
        DataSource target = source;
        while (target instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
            target = proxy.getTargetDataSource();
        }
        return target;
    }

    /** All that begin transactions on the data source. */
    Map<String, PlatformTransactionManager> ofDataSource() {
        Map<String, PlatformTransactionManager> all = new LinkedHashMap<>();
        beans.getBeansOfType(PlatformTransactionManager.class).forEach((name, manager) -> {
            if (name.equals(chosen) || dataSourceOf(manager) == dataSource) {
                all.put(name, manager);
            }
        });
        return all;
    }

    /** The managers for JDBC, JPA and Hibernate all tell it, by a method that they do not share. */
    private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
        Method method = ReflectionUtils.findMethod(manager.getClass(), "getDataSource");
        return method != null && ReflectionUtils.invokeMethod(method, manager) instanceof DataSource source
                ? unwrapped(source)
                : null;
    }

    /** Tells all of them who wants to know of the end of transactions. */
    void listen(SpringTransactions transactions) {
        ofDataSource().values().forEach(manager -> {
            if (manager instanceof ConfigurableTransactionManager configurable) {
                configurable.addListener(transactions);
            }
        });
    }

    /** The one that is to begin transactions. */
    PlatformTransactionManager chosen() {
        Map<String, PlatformTransactionManager> all = ofDataSource();
        PlatformTransactionManager named = chosen == null ? null : all.get(chosen);
        if (named != null) {
            return named;
        }
        PlatformTransactionManager first = primary.getIfUnique();
        if (first != null && all.containsValue(first)) {
            return first;
        }
        if (all.size() == 1 && chosen == null) {
            return all.values().iterator().next();
        }
        throw new IllegalStateException(
                "expected one transaction manager for Windlass's data source, got " + all.keySet()
                        + (chosen == null ? "" : " and not \"" + chosen + "\"")
                        + "; say which by windlass.transaction-manager");
    }
}
