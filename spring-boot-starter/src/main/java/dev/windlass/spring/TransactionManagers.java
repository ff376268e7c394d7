package dev.windlass.spring;

import dev.windlass.spring.Given.InvalidPropertyException;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.util.ReflectionUtils;

/** Finds the transaction managers of a data source, among those of the context. */
final class TransactionManagers {
    private static final Logger log = LoggerFactory.getLogger(TransactionManagers.class);
    private static final String PROPERTY = "windlass.transaction-manager";

    private final ListableBeanFactory beans;
    private final ObjectProvider<PlatformTransactionManager> primary;
    private final DataSource dataSource;
    private final @Nullable String chosen;
    private final boolean alone;
    private final AtomicBoolean toldOfSilent;

    /**
     * @param chosen the bean that somebody has chosen
     * @param alone whether this is the only data source; else what is chosen may be for another
     * @param toldOfSilent whether the application has been told of managers that do not tell their data source
     */
    TransactionManagers(
            ListableBeanFactory beans,
            ObjectProvider<PlatformTransactionManager> primary,
            DataSource dataSource,
            @Nullable String chosen,
            boolean alone,
            AtomicBoolean toldOfSilent) {
        this.beans = beans;
        this.primary = primary;
        this.dataSource = dataSource;
        this.chosen = chosen;
        this.alone = alone;
        this.toldOfSilent = toldOfSilent;
    }

    /**
     * Refuses one that cannot be chosen where there are several data sources.
     *
     * @throws InvalidPropertyException if there is none of that name, or it does not tell its data source
     */
    static void requireTelling(ListableBeanFactory beans, String chosen) {
        if (dataSourceOf(named(beans, chosen)) == null) {
            throw new InvalidPropertyException(
                    PROPERTY,
                    chosen,
                    "expected a transaction manager that tells which of several data sources it is for, by a method"
                            + " getDataSource(), got one that does not; without the property Windlass joins its transactions"
                            + " as well",
                    null);
        }
    }

    private static PlatformTransactionManager named(ListableBeanFactory beans, String name) {
        Map<String, PlatformTransactionManager> all = all(beans);
        PlatformTransactionManager named = all.get(name);
        if (named == null) {
            throw new InvalidPropertyException(
                    PROPERTY, name, "expected the name of a transaction manager, which are " + all.keySet(), null);
        }
        return named;
    }

    /** A data source as transaction managers know it: without a proxy that asks them. */
    static DataSource unwrapped(DataSource source) {
        DataSource target = source;
        while (target instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
            target = proxy.getTargetDataSource();
        }
        return target;
    }

    /** What Windlass's own connections come from: not lazy ones, which look as if somebody's transaction had them. */
    static DataSource underneath(DataSource source) {
        DataSource target = source;
        while (target instanceof LazyConnectionDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
            target = proxy.getTargetDataSource();
        }
        return target;
    }

    private static Map<String, PlatformTransactionManager> all(ListableBeanFactory beans) {
        return beans.getBeansOfType(PlatformTransactionManager.class);
    }

    /** All that begin transactions on the data source, as far as they tell it. */
    private Map<String, PlatformTransactionManager> ofDataSource() {
        Map<String, PlatformTransactionManager> mine = new LinkedHashMap<>();
        all(beans).forEach((name, manager) -> {
            if (isMine(name, manager)) {
                mine.put(name, manager);
            }
        });
        return mine;
    }

    private boolean isMine(String name, PlatformTransactionManager manager) {
        DataSource its = dataSourceOf(manager);
        return its == dataSource || (its == null && name.equals(chosen));
    }

    /** The managers for JDBC, JPA and Hibernate all tell it, by a method that they do not share. */
    private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
        Method method = ReflectionUtils.findMethod(manager.getClass(), "getDataSource");
        return method != null && ReflectionUtils.invokeMethod(method, manager) instanceof DataSource source
                ? unwrapped(source)
                : null;
    }

    /** Tells all of them who wants to know of their transactions. */
    void listen(SpringTransactions transactions, PlatformTransactionManager chosen) {
        Set<PlatformTransactionManager> mine = Collections.newSetFromMap(new IdentityHashMap<>());
        mine.add(chosen);
        mine.addAll(
                BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, PlatformTransactionManager.class)
                        .entrySet()
                        .stream()
                        .filter(each -> isMine(each.getKey(), each.getValue()))
                        .map(Map.Entry::getValue)
                        .toList());
        mine.forEach(each -> add(each, transactions));
    }

    /** Tells all that there are who wants to know of transactions inside of others, once for all data sources. */
    void listenToInner(Map<DataSource, SpringTransactions> all) {
        BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, PlatformTransactionManager.class)
                .forEach((name, manager) -> {
                    DataSource its = dataSourceOf(manager);
                    if (its != null || !name.equals(chosen)) {
                        add(manager, new InnerTransactions(all, its));
                    }
                });
    }

    private static void add(PlatformTransactionManager manager, TransactionExecutionListener listener) {
        if (manager instanceof ConfigurableTransactionManager configurable) {
            configurable.addListener(listener);
        }
    }

    /**
     * The one that is to begin transactions; one of our own, where none is known to be for the data source. That it cannot be told which
     * one it is shows at the start, and not when a handler needs it.
     */
    PlatformTransactionManager chosen() {
        PlatformTransactionManager named = chosen == null ? null : chosenByName(chosen);
        if (named != null) {
            return named;
        }
        Map<String, PlatformTransactionManager> mine = ofDataSource();
        PlatformTransactionManager first = primary.getIfUnique();
        if (first != null && mine.containsValue(first)) {
            return first;
        }
        if (mine.size() > 1) {
            throw new InvalidPropertyException(
                    PROPERTY,
                    "not given",
                    "expected it to name one of the transaction managers for Windlass's data source, which are "
                            + mine.keySet() + ", none of them primary",
                    null);
        }
        return mine.isEmpty() ? ownManager() : mine.values().iterator().next();
    }

    private @Nullable PlatformTransactionManager chosenByName(String name) {
        PlatformTransactionManager named = named(beans, name);
        DataSource other = dataSourceOf(named);
        if (other == null || other == dataSource) {
            return named;
        }
        if (alone) {
            throw new InvalidPropertyException(
                    PROPERTY,
                    name,
                    "expected a transaction manager for Windlass's data source, got one for another",
                    null);
        }
        return null;
    }

    private PlatformTransactionManager ownManager() {
        List<String> silent = all(beans).entrySet().stream()
                .filter(each -> dataSourceOf(each.getValue()) == null)
                .map(Map.Entry::getKey)
                .toList();
        if (!silent.isEmpty() && toldOfSilent.compareAndSet(false, true)) {
            log.warn(
                    "the transaction managers {} do not tell their data source; Windlass joins their transactions on its own, but begins those"
                            + " of its handlers by a manager for JDBC{}",
                    silent,
                    alone ? ". If one of them is to begin these, name it by " + PROPERTY : "");
        }
        return new JdbcTransactionManager(dataSource);
    }
}
