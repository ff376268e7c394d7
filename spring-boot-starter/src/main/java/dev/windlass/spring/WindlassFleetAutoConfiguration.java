package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.FleetBuilder;
import dev.windlass.inbox.Inbox;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.Router;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import dev.windlass.work.WorkQueue;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * A {@link Fleet} on several databases, and a router for each feature, where the application says which databases there are: by properties
 * {@code windlass.stores.*}, by beans of type {@link Store}, or by one that is a {@link DatabaseDiscovery}.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "windlass.enabled", matchIfMissing = true)
@Conditional(OnSeveralStores.class)
@Import(WindlassDescriptionConfiguration.class)
public final class WindlassFleetAutoConfiguration {

    /** Only in the context that has the fleet, not in its children. Beans with it come after the fleet. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @ConditionalOnBean(value = Fleet.class, search = SearchStrategy.CURRENT)
    private @interface OfThisContext {}

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    Fleet windlassFleet(
            WindlassProperties properties,
            WindlassConfigurer configurer,
            @Qualifier("windlassConnections") SharedConnections connections,
            ObjectProvider<DatabaseDiscovery> discovery,
            ListableBeanFactory beans) {
        StoreBeans stores = new StoreBeans(beans, connections);
        List<Store> listed = stores.listed(properties);
        DatabaseDiscovery given = discovery.getIfAvailable();
        DatabaseDiscovery found = given == null ? null : stores.onTheirPools(given);
        FleetBuilder builder = listed.isEmpty() && found != null ? Fleet.discovering(found) : Fleet.over(listed);
        if (found != null && !listed.isEmpty()) {
            builder.discovering(found);
        }
        return configurer.configure(builder, stores::source).build();
    }

    /** Databases that are given by their addresses share them. */
    @Bean(destroyMethod = "close")
    @OfThisContext
    SharedConnections windlassConnections(WindlassProperties properties) {
        return SharedConnections.atMost(properties.fleet().connections());
    }

    /** A parameter may be given that of the parent context, if it has the name of the parameter. */
    private static Fleet its(ListableBeanFactory beans) {
        return beans.getBean(Fleet.class);
    }

    @Bean
    @OfThisContext
    WindlassLifecycle windlassLifecycle(ListableBeanFactory beans, WindlassProperties properties) {
        Fleet fleet = its(beans);
        return new WindlassLifecycle(
                fleet::start, fleet::close, WindlassLifecycle.BEFORE_WEB_SERVERS, properties.workers());
    }

    @Bean
    static LeasedMethods windlassLeasedMethods(ConfigurableListableBeanFactory beans, Environment environment) {
        return new LeasedMethods(
                () -> {
                    throw which("@UnderLease", "Router<Leases>");
                },
                beans,
                environment);
    }

    @Bean
    @OfThisContext
    OutboxEvents windlassOutboxEvents(ConfigurableListableBeanFactory beans) {
        return new OutboxEvents(
                () -> {
                    throw which("@OutboxEvent", "Router<Outbox>");
                },
                beans);
    }

    private static IllegalStateException which(String annotation, String instead) {
        return new IllegalStateException("expected one database for " + annotation
                + ", got several, of which nobody knows which one is meant; use the bean " + instead);
    }

    @Bean
    @OfThisContext
    Router<Outbox> windlassOutboxes(ListableBeanFactory beans) {
        return its(beans).outboxes();
    }

    @Bean
    @OfThisContext
    Router<Joins> windlassJoins(ListableBeanFactory beans) {
        return its(beans).joins();
    }

    @Bean
    @OfThisContext
    Router<Inbox> windlassInboxes(ListableBeanFactory beans) {
        return its(beans).inboxes();
    }

    @Bean
    @OfThisContext
    Router<Timers> windlassTimers(ListableBeanFactory beans) {
        return its(beans).timers();
    }

    @Bean
    @OfThisContext
    Router<Jobs> windlassJobs(ListableBeanFactory beans) {
        return its(beans).jobs();
    }

    @Bean
    @OfThisContext
    Router<Leases> windlassLeases(ListableBeanFactory beans) {
        return its(beans).leases();
    }

    @Bean
    @OfThisContext
    Router<WorkQueue> windlassWorkQueues(ListableBeanFactory beans) {
        return its(beans).workQueues();
    }
}
