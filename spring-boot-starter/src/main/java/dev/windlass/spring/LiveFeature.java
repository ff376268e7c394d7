package dev.windlass.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

/** A feature as a bean: it stays the same while the {@link dev.windlass.Windlass} behind it is stopped and started again. */
final class LiveFeature {
    private LiveFeature() {}

    static <T> T of(Class<T> type, Supplier<T> now) {
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
                        throw e.getCause();
                    }
                }));
    }
}
