package dev.windlass.spring;

import dev.windlass.WindlassBuilder;
import dev.windlass.base.Feature;
import dev.windlass.base.PayloadCodec;
import dev.windlass.health.HealthOptions;
import dev.windlass.schedule.JobSet;
import dev.windlass.store.Store;
import dev.windlass.trace.Tracing;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;

/** What every Windlass of the application is, on one database or on each of many: its options, handlers, jobs, and whose transactions it joins. */
final class WindlassDescription {
    private final WindlassProperties properties;
    private final PropertiesToOptions options;
    private final ConfigurableListableBeanFactory beans;
    private final HandlerBeans handlers;
    private final PayloadCodec codec;
    private final ObjectProvider<PlatformTransactionManager> managers;
    private final ObjectProvider<Tracing> tracing;
    private final ObjectProvider<JobSet> jobs;
    private final ObjectProvider<WindlassCustomizer> customizers;
    private final Map<DataSource, SpringTransactions> transactions =
            Collections.synchronizedMap(new IdentityHashMap<>());
    private final AtomicBoolean toldOfSilentManagers = new AtomicBoolean();

    WindlassDescription(
            WindlassProperties properties,
            ConfigurableListableBeanFactory beans,
            HandlerBeans handlers,
            PayloadCodec codec,
            ObjectProvider<PlatformTransactionManager> managers,
            ObjectProvider<Tracing> tracing,
            ObjectProvider<JobSet> jobs,
            ObjectProvider<WindlassCustomizer> customizers) {
        this.properties = properties;
        this.options = new PropertiesToOptions(properties);
        this.beans = beans;
        this.handlers = handlers;
        this.codec = codec;
        this.managers = managers;
        this.tracing = tracing;
        this.jobs = jobs;
        this.customizers = customizers;
    }

    HealthOptions health() {
        return options.health();
    }

    /**
     * @param source as transaction managers know it, if it is one that they may know
     * @param store which of several databases it is, if there are several
     */
    void applyTo(WindlassBuilder builder, @Nullable DataSource source, @Nullable Store store) {
        applyHandlers(builder, store);
        if (source != null) {
            builder.transactions(transactionsOf(source, store == null));
        }
        SeveralBeansException.orOnly(tracing, Tracing.class).ifPresent(builder::tracing);
        jobs.orderedStream().forEach(each -> {
            options.require(Feature.SCHEDULE, "a bean of type JobSet");
            builder.jobs(each);
        });
        customizers.orderedStream().forEach(each -> each.customize(builder));
    }

    /** What may be wrong with properties and annotations shows here, without a database. */
    void applyHandlers(WindlassBuilder builder, @Nullable Store store) {
        options.customize(builder);
        builder.codec(codec);
        handlers.addTo(new AnnotatedHandlers(builder, options, codec, beans::resolveEmbeddedValue, store));
    }

    /** Which store a manager that tells no data source is for, nobody knows. */
    void refuseManagerOfNoStore() {
        String chosen = properties.transactionManager();
        if (chosen != null) {
            TransactionManagers.requireTelling(beans, chosen);
        }
    }

    /** Once for each data source: its managers are told who wants to know of the end of transactions. */
    private synchronized SpringTransactions transactionsOf(DataSource source, boolean alone) {
        SpringTransactions known = transactions.get(source);
        return known == null ? joined(source, alone) : known;
    }

    private SpringTransactions joined(DataSource source, boolean alone) {
        TransactionManagers its = new TransactionManagers(
                beans, managers, source, properties.transactionManager(), alone, toldOfSilentManagers);
        PlatformTransactionManager chosen = its.chosen();
        SpringTransactions joined = new SpringTransactions(source, chosen);
        its.listen(joined, chosen);
        if (transactions.isEmpty()) {
            its.listenToInner(transactions);
        }
        transactions.put(source, joined);
        return joined;
    }
}
