package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.inbox.Inbox;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.store.Router;
import dev.windlass.work.WorkQueue;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Says why a bean of Windlass is not there, such as where Windlass is switched off; Spring Boot would advise to make one. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class AbsentBeanAnalyzer implements FailureAnalyzer {
    private static final Set<Class<?>> FEATURES =
            Set.of(Outbox.class, Joins.class, Inbox.class, WorkQueue.class, Timers.class, Jobs.class, Leases.class);

    private final Environment environment;
    private final ListableBeanFactory beans;

    AbsentBeanAnalyzer(Environment environment, BeanFactory beans) {
        this.environment = environment;
        this.beans = (ListableBeanFactory) beans;
    }

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof NoSuchBeanDefinitionException missing && isOurs(missing.getResolvableType())) {
                return analyze(failure, missing, name(missing.getResolvableType()));
            }
        }
        return null;
    }

    private static boolean isOurs(@Nullable ResolvableType type) {
        Class<?> its = type == null ? null : type.resolve();
        return its == Windlass.class || its == Fleet.class || its == Router.class || isFeature(its);
    }

    private static boolean isFeature(@Nullable Class<?> type) {
        return type != null && FEATURES.contains(type);
    }

    private static String name(@Nullable ResolvableType type) {
        return String.valueOf(type).replaceAll("[\\w.]+\\.", "");
    }

    private @Nullable FailureAnalysis analyze(Throwable failure, NoSuchBeanDefinitionException missing, String name) {
        String needed = Needed.by(failure, missing) + " needs a bean of type " + name + ", and ";
        if (!environment.getProperty("windlass.enabled", Boolean.class, true)) {
            return new FailureAnalysis(
                    needed + "windlass.enabled is false, so there is none.",
                    "If this node is to write without handling anything, such as a web application beside its workers, set"
                            + " windlass.workers=false instead. If it is to do without, let it take ObjectProvider<"
                            + name
                            + ">.",
                    missing);
        }
        if (has(Fleet.class)) {
            return ofFleet(missing, name, needed);
        }
        return has(Windlass.class) || has(DataSource.class)
                ? null
                : new FailureAnalysis(
                        needed + "there is none, since there is no DataSource that Windlass could be on.",
                        NoDataSourceException.ADD_ONE,
                        missing);
    }

    private static @Nullable FailureAnalysis ofFleet(
            NoSuchBeanDefinitionException missing, String name, String needed) {
        ResolvableType type = missing.getResolvableType();
        Class<?> its = type == null ? null : type.resolve();
        if (its != Windlass.class && !isFeature(its)) {
            return null;
        }
        return new FailureAnalysis(
                needed + "there are several databases (by windlass.stores, or by beans of type Store or"
                        + " DatabaseDiscovery), of which nobody knows which one is meant.",
                its == Windlass.class
                        ? "Take Fleet instead."
                        : "Take Router<" + name + "> instead, which has one for each database.",
                missing);
    }

    private boolean has(Class<?> type) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false).length > 0;
    }
}
