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
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Says why a bean of Windlass is not there where Windlass is switched off; Spring Boot would advise to make one. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class AbsentBeanAnalyzer implements FailureAnalyzer {
    private static final Set<Class<?>> OURS = Set.of(
            Windlass.class,
            Fleet.class,
            Router.class,
            Outbox.class,
            Joins.class,
            Inbox.class,
            WorkQueue.class,
            Timers.class,
            Jobs.class,
            Leases.class);

    private final Environment environment;

    AbsentBeanAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        if (environment.getProperty("windlass.enabled", Boolean.class, true)) {
            return null;
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof NoSuchBeanDefinitionException missing && isOurs(missing.getResolvableType())) {
                return told(failure, missing, missing.getResolvableType());
            }
        }
        return null;
    }

    private static boolean isOurs(@Nullable ResolvableType type) {
        return type != null && type.resolve() != null && OURS.contains(type.resolve());
    }

    private static FailureAnalysis told(Throwable failure, Throwable missing, @Nullable ResolvableType type) {
        String name = String.valueOf(type).replaceAll("[\\w.]+\\.", "");
        return new FailureAnalysis(
                Needed.by(failure, missing) + " needs a bean of type " + name
                        + ", and windlass.enabled is false, so there is none.",
                "If this node is to write without handling anything, such as a web application beside its workers, set"
                        + " windlass.workers=false instead. If it is to do without, let it take ObjectProvider<" + name
                        + ">.",
                missing);
    }
}
