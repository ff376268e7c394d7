package dev.windlass.spring;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.PayloadCodec;
import dev.windlass.event.WindlassListener;
import dev.windlass.inbox.Inbox;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.trace.Tracing;
import dev.windlass.work.WorkQueue;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.transaction.PlatformTransactionManager;

/** A {@link Windlass} on the data source of the application, and a bean for each of its features. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "windlass.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
@EnableConfigurationProperties(WindlassProperties.class)
public final class WindlassAutoConfiguration {

    @Bean
    static HandlerBeans windlassHandlerBeans(ConfigurableListableBeanFactory beans) {
        return new HandlerBeans(beans);
    }

    @Bean
    @ConditionalOnMissingBean
    static LeasedMethods windlassLeasedMethods(ObjectProvider<Leases> leases, ConfigurableListableBeanFactory beans) {
        return new LeasedMethods(leases::getObject, beans::resolveEmbeddedValue);
    }

    @Bean
    OutboxEvents windlassOutboxEvents(ObjectProvider<Outbox> outbox, ConfigurableListableBeanFactory beans) {
        return new OutboxEvents(outbox::getObject, beans::resolveEmbeddedValue);
    }

    /** Closed before its data source is, since it depends on that. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    Windlass windlass(
            WindlassProperties properties,
            ObjectProvider<DataSource> dataSource,
            ObjectProvider<PlatformTransactionManager> managers,
            ConfigurableListableBeanFactory beans,
            HandlerBeans handlerBeans,
            ObjectProvider<PayloadCodec> codec,
            ObjectProvider<Tracing> tracing,
            ObjectProvider<WindlassListener> listeners,
            ObjectProvider<JobSet> jobs,
            ObjectProvider<WindlassCustomizer> customizers) {
        DataSource source = TransactionManagers.unwrapped(source(properties, dataSource, beans));
        PropertiesToOptions options = new PropertiesToOptions(properties);
        WindlassBuilder builder = Windlass.on(source);
        options.customize(builder);
        joinTransactions(
                builder, new TransactionManagers(beans, managers, source, properties.transactionManager()), source);
        PayloadCodec payloads = codec.getIfUnique(PayloadCodec::standard);
        builder.codec(payloads);
        tracing.ifUnique(builder::tracing);
        listeners.orderedStream().forEach(builder::listener);
        jobs.orderedStream().forEach(builder::jobs);
        handlerBeans.addTo(new AnnotatedHandlers(builder, options, payloads, beans::resolveEmbeddedValue));
        customizers.orderedStream().forEach(each -> each.customize(builder));
        if (Boolean.TRUE.equals(properties.ensureSchema())) {
            builder.migrator().migrate(); // before anybody writes; the start comes later
        }
        return builder.build();
    }

    private static DataSource source(
            WindlassProperties properties, ObjectProvider<DataSource> dataSource, ListableBeanFactory beans) {
        String named = properties.dataSource();
        if (named != null) {
            return beans.getBean(named, DataSource.class);
        }
        DataSource unique = dataSource.getIfUnique();
        if (unique == null) {
            throw new NoDataSourceException(beans.getBeanNamesForType(DataSource.class));
        }
        return unique;
    }

    private static void joinTransactions(WindlassBuilder builder, TransactionManagers managers, DataSource source) {
        if (!managers.ofDataSource().isEmpty()) {
            SpringTransactions transactions = new SpringTransactions(source, managers::chosen);
            managers.listen(transactions);
            builder.transactions(transactions);
        }
    }

    @Bean
    WindlassLifecycle windlassLifecycle(Windlass windlass) {
        return new WindlassLifecycle(windlass);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Outbox outbox(Windlass windlass) {
        return LiveFeature.of(Outbox.class, windlass::outbox);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Joins joins(Windlass windlass) {
        return LiveFeature.of(Joins.class, windlass::joins);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Inbox inbox(Windlass windlass) {
        return LiveFeature.of(Inbox.class, windlass::inbox);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Timers timers(Windlass windlass) {
        return LiveFeature.of(Timers.class, windlass::timers);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Jobs jobs(Windlass windlass) {
        return LiveFeature.of(Jobs.class, windlass::jobs);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Leases leases(Windlass windlass) {
        return LiveFeature.of(Leases.class, windlass::leases);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    WorkQueue workQueue(Windlass windlass) {
        return LiveFeature.of(WorkQueue.class, windlass::workQueue);
    }
}
