package dev.windlass.spring;

import dev.windlass.base.PayloadCodec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A method of a bean that handles messages: it takes some of what a message comes with, and at most one other argument, its payload.
 *
 * <p>The bean is asked for when the method is called.
 */
final class HandlerMethod {
    private final Method method;
    private final Supplier<Object> bean;
    private final List<Class<?>> parameters;
    private final @Nullable Class<?> payload;

    /**
     * @param known the types of arguments that a message comes with
     * @throws InvalidHandlerException if the method takes anything else
     */
    HandlerMethod(Method method, Supplier<Object> bean, List<Class<?>> known) {
        this.method = method;
        this.bean = bean;
        this.parameters = List.of(method.getParameterTypes());
        this.payload = payload(known);
    }

    private @Nullable Class<?> payload(List<Class<?>> known) {
        List<Parameter> others = new ArrayList<>();
        List<Class<?>> met = new ArrayList<>();
        for (Parameter each : method.getParameters()) {
            if (!known.contains(each.getType())) {
                others.add(each);
            } else if (met.contains(each.getType())) {
                throw refused("takes " + each.getType().getSimpleName() + " twice");
            } else {
                met.add(each.getType());
            }
        }
        if (others.size() > 1) {
            throw refused("takes " + types(others) + ", of which only one can be the payload; the others may be "
                    + names(known));
        }
        if (others.isEmpty()) {
            return null;
        }
        Parameter its = others.get(0);
        if (!(its.getParameterizedType() instanceof Class<?>) || its.getType().isPrimitive()) {
            throw refused(
                    "takes a payload of type " + its.getParameterizedType().getTypeName()
                            + "; expected a class without type arguments, such as a record, or String");
        }
        return its.getType();
    }

    private static String types(List<Parameter> parameters) {
        return parameters.stream().map(each -> each.getType().getSimpleName()).collect(Collectors.joining(" and "));
    }

    private static String names(List<Class<?>> types) {
        return types.stream().map(Class::getSimpleName).collect(Collectors.joining(", "));
    }

    InvalidHandlerException refused(String why) {
        return new InvalidHandlerException(method, why);
    }

    Method method() {
        return method;
    }

    boolean takes(Class<?> type) {
        return parameters.contains(type);
    }

    /** Refuses a method that returns something which nobody would look at. */
    HandlerMethod returningNothing() {
        if (method.getReturnType() != void.class) {
            throw refused(
                    "returns " + method.getReturnType().getSimpleName() + "; expected void, since nobody looks at it");
        }
        return this;
    }

    /** Whether the payload has to be decoded. */
    boolean needsCodec() {
        return payload != null && payload != String.class;
    }

    /**
     * @param arguments what the message comes with, by type
     */
    @Nullable
    Object call(String text, PayloadCodec codec, Map<Class<?>, Object> arguments) throws Exception {
        Object[] values = new Object[parameters.size()];
        for (int i = 0; i < values.length; i++) {
            Class<?> type = parameters.get(i);
            Object known = arguments.get(type);
            values[i] = known != null ? known : type == String.class ? text : codec.decode(text, type);
        }
        Object target = bean.get();
        Method invocable = AopUtils.selectInvocableMethod(method, target.getClass());
        ReflectionUtils.makeAccessible(invocable);
        try {
            return invocable.invoke(target, values);
        } catch (InvocationTargetException e) {
            throw thrown(Objects.requireNonNull(e.getCause()));
        }
    }

    private static Exception thrown(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return (Exception) cause;
    }

    /** What is wrong with a method that has one of our annotations. */
    static final class InvalidHandlerException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        InvalidHandlerException(Method method, String why) {
            super(method.getDeclaringClass().getName() + "." + method.getName() + " " + why);
        }

        InvalidHandlerException(String what) {
            super(what);
        }
    }
}
