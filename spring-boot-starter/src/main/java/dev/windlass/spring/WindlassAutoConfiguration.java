package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.inbox.Inbox;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.work.WorkQueue;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/** A {@link Windlass} on the data source of the application, and a bean for each of its features. */
@AutoConfiguration(
        after = WindlassFleetAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "windlass.enabled", matchIfMissing = true)
@Conditional(WindlassAutoConfiguration.OnDatabase.class)
@ConditionalOnMissingBean(Fleet.class)
@Import(WindlassDescriptionConfiguration.class)
public final class WindlassAutoConfiguration {

    static final class OnDatabase extends AnyNestedCondition {
        OnDatabase() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBean(DataSource.class)
        static class OfTheApplication {}

        /** One that the application has made knows its data source, which need not be a bean. */
        @ConditionalOnBean(Windlass.class)
        static class OfItsWindlass {}
    }

    /**
     * Only in the context that has the Windlass, not in its children: they would stop it when they are closed, and write events a second time.
     * Beans with it come after the Windlass, since conditions are asked in the order of the methods.
     */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @ConditionalOnBean(value = Windlass.class, search = SearchStrategy.CURRENT)
    private @interface OfThisContext {}

    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    static LeasedMethods windlassLeasedMethods(ConfigurableListableBeanFactory beans, Environment environment) {
        return new LeasedMethods(() -> beans.getBean(Leases.class), beans, environment);
    }

    /** Closed before its data source is, since it depends on that. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    Windlass windlass(
            WindlassProperties properties,
            WindlassConfigurer configurer,
            ObjectProvider<DataSource> dataSource,
            ListableBeanFactory beans) {
        WindlassBuilder builder = configurer.on(source(properties, dataSource, beans));
        if (configurer.ensuresSchema()) {
            builder.migrator().migrate(); // before anybody writes; the start comes later
        }
        return builder.build();
    }

    private static DataSource source(
            WindlassProperties properties, ObjectProvider<DataSource> dataSource, ListableBeanFactory beans) {
        String named = properties.dataSource();
        if (named != null) {
            return StoreBeans.named(beans, "windlass.data-source", named);
        }
        DataSource unique = dataSource.getIfUnique();
        if (unique == null) {
            throw NoDataSourceException.oneOf(beans.getBeanNamesForType(DataSource.class));
        }
        return unique;
    }

    /** A parameter may be given that of the parent context, if it has the name of the parameter. */
    private static Windlass its(ListableBeanFactory beans) {
        return beans.getBean(Windlass.class);
    }

    @Bean
    @OfThisContext
    WindlassLifecycle windlassLifecycle(ListableBeanFactory beans, WindlassProperties properties) {
        Windlass windlass = its(beans);
        return new WindlassLifecycle(
                windlass::start, windlass::close, WindlassLifecycle.AFTER_WEB_SERVERS, properties.workers());
    }

    @Bean
    @OfThisContext
    OutboxEvents windlassOutboxEvents(ConfigurableListableBeanFactory beans) {
        return new OutboxEvents(() -> beans.getBean(Outbox.class), beans);
    }

    @Bean
    @Lazy
    @OfThisContext
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Outbox windlassOutbox(ListableBeanFactory beans) {
        return LiveFeature.of(Outbox.class, its(beans)::outbox);
    }

    @Bean
    @Lazy
    @OfThisContext
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Joins windlassJoins(ListableBeanFactory beans) {
        return LiveFeature.of(Joins.class, its(beans)::joins);
    }

    @Bean
    @Lazy
    @OfThisContext
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Inbox windlassInbox(ListableBeanFactory beans) {
        return LiveFeature.of(Inbox.class, its(beans)::inbox);
    }

    @Bean
    @Lazy
    @OfThisContext
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Timers windlassTimers(ListableBeanFactory beans) {
        return LiveFeature.of(Timers.class, its(beans)::timers);
    }

    @Bean
    @Lazy
    @OfThisContext
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Jobs windlassJobs(ListableBeanFactory beans) {
        return LiveFeature.of(Jobs.class, its(beans)::jobs);
    }

    @Bean
    @Lazy
    @OfThisContext
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    Leases windlassLeases(ListableBeanFactory beans) {
        return LiveFeature.of(Leases.class, its(beans)::leases);
    }

    @Bean
    @Lazy
    @OfThisContext
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    WorkQueue windlassWorkQueue(ListableBeanFactory beans) {
        return LiveFeature.of(WorkQueue.class, its(beans)::workQueue);
    }
}
