package dev.windlass.spring;

import dev.windlass.base.WindlassException;
import dev.windlass.inbox.Inbox;
import dev.windlass.lease.Leases;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.work.WorkQueue;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.function.Supplier;

/** A feature as a bean: it stays the same while the {@link dev.windlass.Windlass} behind it is stopped and started again. */
final class LiveFeature {
    private static final String OPTION = "WindlassOptions.withTransactionRequired";
    private static final String PROPERTY = "windlass.transaction-required=false";

    private LiveFeature() {}

    /**
     * @throws LeftOutException if there is no such feature: who gets the bean would fail at its first use
     */
    static <T> T of(Class<T> type, Supplier<T> now) {
        check(type, now);
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        return switch (method.getName()) {
                            case "equals" -> proxy == arguments[0];
                            case "hashCode" -> System.identityHashCode(proxy);
                            default -> type.getSimpleName() + " of Windlass";
                        };
                    }
                    try {
                        return method.invoke(now.get(), arguments);
                    } catch (InvocationTargetException e) {
                        throw told(Objects.requireNonNull(e.getCause()));
                    }
                }));
    }

    /** Here an option is a property. */
    private static Throwable told(Throwable failure) {
        String message = failure.getMessage();
        if (failure.getClass() != WindlassException.class || message == null || !message.contains(OPTION)) {
            return failure;
        }
        WindlassException told = new WindlassException(
                message.replace(OPTION, PROPERTY), Objects.requireNonNullElse(failure.getCause(), failure));
        told.setStackTrace(failure.getStackTrace());
        return told;
    }

    private static <T> void check(Class<T> type, Supplier<T> now) {
        try {
            var unused = now.get();
        } catch (IllegalStateException e) {
            throw new LeftOutException(type, e);
        }
    }

    /** A bean of a feature that is left out was asked for. */
    static final class LeftOutException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        private final String feature;

        LeftOutException(Class<?> type, IllegalStateException cause) {
            super(
                    "the bean of type " + type.getSimpleName() + " belongs to the feature " + feature(type)
                            + ", which is left out by windlass.features.",
                    cause);
            feature = feature(type);
        }

        private static String feature(Class<?> type) {
            if (type == Timers.class || type == Jobs.class) {
                return "schedule";
            }
            if (type == Inbox.class) {
                return "inbox";
            }
            if (type == WorkQueue.class) {
                return "work";
            }
            return type == Leases.class ? "leases" : "outbox";
        }

        /** As the property has it. */
        String feature() {
            return feature;
        }
    }
}
