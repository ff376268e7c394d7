package dev.windlass.spring;

import dev.windlass.base.Cancellation;
import dev.windlass.base.PayloadCodec;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.store.Store;
import dev.windlass.work.WorkContext;
import dev.windlass.work.WorkItem;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A method of a bean that handles messages: it takes some of what a message comes with, and at most one other argument, its payload.
 *
 * <p>The bean is asked for when the method is called.
 */
final class HandlerMethod {
    /** No payload is one of these, so a method that takes one has mistaken the kind of its messages, or the number of databases. */
    private static final Set<Class<?>> COMES_WITH_MESSAGES = Set.of(
            OutboxMessage.class,
            InboxMessage.class,
            WorkItem.class,
            WorkContext.class,
            Cancellation.class,
            Store.class);

    /** By their names: what they are from need not be there. */
    private static final Set<String> OF_LATER = Set.of(
            Future.class.getName(),
            CompletionStage.class.getName(),
            Flow.Publisher.class.getName(),
            "org.reactivestreams.Publisher");

    private final Method method;
    private final Supplier<Object> bean;
    private final List<Class<?>> parameters;
    private final List<Class<?>> known = new ArrayList<>();
    private final @Nullable Store store;
    private final @Nullable Class<?> payload;

    /**
     * @param comesWith the types of arguments that a message comes with
     * @param store what it comes with besides, if there are several databases
     * @throws InvalidHandlerException if the method takes anything else
     */
    HandlerMethod(Method method, Supplier<Object> bean, List<Class<?>> comesWith, @Nullable Store store) {
        this.method = method;
        this.bean = bean;
        this.parameters = List.of(method.getParameterTypes());
        this.store = store;
        known.addAll(comesWith);
        if (store != null) {
            known.add(Store.class);
        }
        this.payload = payload();
    }

    /**
     * Whether it can handle messages, whatever its arguments are.
     *
     * @param type of its bean
     * @throws InvalidHandlerException if not
     */
    static void check(Method method, Class<?> type) {
        if (Modifier.isPrivate(method.getModifiers())) {
            throw new InvalidHandlerException(
                    method, "is private; expected a method that a proxy of its bean can call, so take private away");
        }
        if (isAsync(method, type)) {
            throw new InvalidHandlerException(
                    method,
                    "is @Async, so it would return before its work is done, and its message would be over then; take"
                            + " @Async away, as handlers have threads of their own");
        }
        if (AnnotatedElementUtils.hasAnnotation(method, UnderLease.class)) {
            throw new InvalidHandlerException(
                    method,
                    "has @UnderLease, so its message would be over without being handled while another node holds the lease;"
                            + " take @UnderLease away, as one node at a time has a message");
        }
        if (isDoneLater(method.getReturnType())) {
            throw new InvalidHandlerException(
                    method,
                    "returns " + method.getReturnType().getSimpleName()
                            + ", so it would return before its work is done, and its"
                            + " message would be over then; let it wait for the result and return that, as handlers have threads of"
                            + " their own");
        }
        requireOverridable(method, type);
    }

    /** A future or a publisher, whoever it is from. */
    private static boolean isDoneLater(Class<?> returned) {
        return ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null
                || OF_LATER.contains(returned.getName())
                || ClassUtils.getAllInterfacesForClassAsSet(returned).stream()
                        .anyMatch(each -> OF_LATER.contains(each.getName()));
    }

    /**
     * Whether a proxy of the bean can pass on a call of the method: one that is not public is called at the proxy itself if its class is of
     * another package, and there no field is set and no advice runs.
     *
     * @param type of the bean
     * @throws InvalidHandlerException if not
     */
    static void requireOverridable(Method method, Class<?> type) {
        Class<?> declaring = method.getDeclaringClass();
        boolean isOfPackage = (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE)) == 0;
        boolean isSamePackage = declaring.getPackageName().equals(type.getPackageName())
                && Objects.equals(declaring.getClassLoader(), type.getClassLoader());
        if (isOfPackage && !isSamePackage) {
            throw new InvalidHandlerException(
                    method,
                    "is visible in its package only, and " + type.getName()
                            + ", the class of its bean, is in another, so a proxy of the bean cannot pass the call on; make the"
                            + " method public or protected");
        }
    }

    static boolean isAsync(Method method, Class<?> type) {
        return AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(type, Async.class);
    }

    /**
     * What is called at a bean, which may be behind a proxy.
     *
     * @throws InvalidHandlerException if the proxy cannot pass the call on
     */
    static Method invocable(Method method, Object bean) {
        if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(method.getModifiers())) {
            throw new InvalidHandlerException(
                    method, "is final, so the proxy of its bean cannot pass the call on to the bean; take final away");
        }
        try {
            return AopUtils.selectInvocableMethod(method, bean.getClass());
        } catch (IllegalStateException e) {
            throw new InvalidHandlerException(
                    method,
                    "is in none of the interfaces of its bean, and the proxy of the bean has nothing else; add it to"
                            + " one of them, or let the proxy be a subclass: by spring.aop.proxy-target-class=true, and by"
                            + " proxyTargetClass=true at @EnableAsync and the like");
        }
    }

    static boolean isGiven(Class<?> type) {
        return COMES_WITH_MESSAGES.contains(type);
    }

    private @Nullable Class<?> payload() {
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
        if (isGiven(its.getType())) {
            throw refused("takes " + its.getType().getSimpleName() + ", which it is not given; it may take "
                    + names(known) + ", and the payload");
        }
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

    /** As errors have it. */
    static String name(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName();
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
     * @param arguments what the message comes with, in the order of their types
     */
    @Nullable
    Object call(String text, PayloadCodec codec, Object... arguments) throws Exception {
        Object[] values = new Object[parameters.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = argument(parameters.get(i), text, codec, arguments);
        }
        Object target = bean.get();
        Method invocable = invocable(method, target);
        ReflectionUtils.makeAccessible(invocable);
        try {
            return invocable.invoke(target, values);
        } catch (InvocationTargetException e) {
            throw thrown(Objects.requireNonNull(e.getCause()));
        }
    }

    private @Nullable Object argument(Class<?> type, String text, PayloadCodec codec, Object... arguments) {
        int index = known.indexOf(type);
        if (index < 0) {
            return type == String.class ? text : codec.decode(text, type);
        }
        return index < arguments.length ? arguments[index] : store;
    }

    private static Exception thrown(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof Exception exception
                ? exception
                : new UndeclaredThrowableException(cause, cause.toString());
    }

    /** What is wrong with a method that has one of our annotations. */
    static final class InvalidHandlerException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        InvalidHandlerException(Method method, String why) {
            this(name(method) + " " + why);
        }

        InvalidHandlerException(String what) {
            super(what);
        }

        InvalidHandlerException(String what, Exception cause) {
            super(what, cause);
        }
    }
}
