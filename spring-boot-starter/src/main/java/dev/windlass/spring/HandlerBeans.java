package dev.windlass.spring;

import dev.windlass.inbox.InboxHandler;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.spring.HandlerMethod.InvalidHandlerException;
import dev.windlass.work.WorkHandler;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Finds the beans with our annotations by what is known of their classes, without making them: they may need what handles their messages.
 *
 * <p>A bean whose class is known only when it has been made, since the method that makes it says less, would be left out without a word. So
 * all that have been made are looked at again at the end, and the start fails if one was missed. A bean that is made later, such as a lazy one,
 * cannot be made then.
 */
final class HandlerBeans implements SmartInitializingSingleton, BeanPostProcessor {
    private static final Logger log = LoggerFactory.getLogger(HandlerBeans.class);

    private static final List<Class<? extends Annotation>> OURS =
            List.of(OnOutbox.class, OnInbox.class, OnWork.class, CronJob.class);

    private static final List<Class<?>> HANDLING = List.of(OutboxHandler.class, InboxHandler.class, WorkHandler.class);

    private static final Set<String> OF_REQUESTS = Set.of("request", "session", "websocket");

    private final ConfigurableListableBeanFactory beans;
    private @Nullable List<Found> found;

    /** By the names of their beans, as soon as all beans are there. */
    private volatile @Nullable Map<String, List<Found>> known;

    private final Set<Object> lookedAt = ConcurrentHashMap.newKeySet();

    /**
     * @param method null if the bean is a handler by itself
     */
    private record Found(
            String bean, Annotation annotation, @Nullable Method method, Consumer<AnnotatedHandlers> adding) {
        void addTo(AnnotatedHandlers handlers) {
            adding.accept(handlers);
        }

        /** Also one that a subclass has written again, if it has not changed its annotation. */
        boolean is(Annotation its, Method other) {
            return method != null
                    && annotation.equals(its)
                    && method.getName().equals(other.getName())
                    && Arrays.equals(method.getParameterTypes(), other.getParameterTypes());
        }

        boolean isBean(Class<? extends Annotation> type) {
            return method == null && annotation.annotationType() == type;
        }
    }

    HandlerBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /** For each Windlass of the application. */
    void addTo(AnnotatedHandlers handlers) {
        found().forEach(each -> each.addTo(handlers));
    }

    /** A bean whose methods need a Windlass. */
    Optional<String> annotated() {
        Stream<String> handling = found().stream().map(Found::bean);
        Stream<String> leased = Arrays.stream(beans.getBeanDefinitionNames()).filter(this::isLeased);
        return Stream.concat(handling, leased).findFirst();
    }

    private boolean isLeased(String name) {
        Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
        return type != null && !LeasedMethods.methods(type).isEmpty();
    }

    /** They are looked for once. */
    private synchronized List<Found> found() {
        if (found == null) {
            found = find();
        }
        return found;
    }

    private List<Found> find() {
        List<Found> all = new ArrayList<>();
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : typeOf(name);
            if (type != null) {
                find(name, type, all);
            }
        }
        return all;
    }

    private @Nullable Class<?> typeOf(String name) {
        Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
        return type == null || !(AnnotationUtils.isCandidateClass(type, OURS) || isMadeAsHandler(name)) ? null : type;
    }

    /** By a method that has the annotation, which a class of the JDK has not. */
    private boolean isMadeAsHandler(String name) {
        return OURS.stream().anyMatch(each -> beans.findAnnotationOnBean(name, each, false) != null);
    }

    private void find(String name, Class<?> type, List<Found> all) {
        Supplier<Object> bean = () -> beans.getBean(name);
        for (Class<? extends Annotation> annotation : OURS) {
            Annotation ofBean = beans.findAnnotationOnBean(name, annotation, false);
            if (ofBean != null) {
                checkScope(type.getName(), name);
                checkHandling(type, annotation == CronJob.class ? Set.of("handle", "run") : Set.of("handle"));
                all.add(new Found(name, ofBean, null, handlers -> handlers.bean(ofBean, type, name, bean)));
            }
            methods(type, annotation).forEach((method, its) -> {
                HandlerMethod.check(method, type);
                checkScope(HandlerMethod.name(method), name);
                all.add(new Found(name, its, method, handlers -> handlers.method(its, method, name, bean)));
            });
        }
    }

    /** A bean that is a handler is called by the method that all of its kind have. */
    private static void checkHandling(Class<?> type, Set<String> names) {
        for (Method method : type.getMethods()) {
            if (names.contains(method.getName())) {
                HandlerMethod.check(method, type);
            }
        }
    }

    /** Handlers run on threads of their own, where there is no request. */
    private void checkScope(String who, String name) {
        String behind = ScopedProxyUtils.getTargetBeanName(name);
        boolean proxied = beans.containsBeanDefinition(behind);
        BeanDefinition bean = beans.getMergedBeanDefinition(proxied ? behind : name);
        String scope = String.valueOf(bean.getScope());
        boolean fits = bean.isSingleton() || bean.isPrototype() || (proxied && !OF_REQUESTS.contains(scope));
        if (!fits) {
            throw new InvalidHandlerException(who + " handles messages, and its bean \"" + name + "\" has the scope "
                    + scope + "; expected a singleton, or a prototype, of which each message has a new one");
        }
    }

    private static <A extends Annotation> Map<Method, A> methods(Class<?> type, Class<A> annotation) {
        // What makes a bean of a handler is no handler itself.
        return MethodIntrospector.selectMethods(
                type,
                (Method method) ->
                        AnnotatedElementUtils.hasAnnotation(method, org.springframework.context.annotation.Bean.class)
                                ? null
                                : AnnotatedElementUtils.findMergedAnnotation(method, annotation));
    }

    /** Also where beans are lazy, and the Windlass is not there yet. */
    @Override
    public void afterSingletonsInstantiated() {
        OwnWindlass.in(beans)
                .ifPresentOrElse(
                        name -> OwnWindlass.check(
                                beans, name, found().stream().map(Found::bean).findFirst()),
                        this::refuseThoseOfAnotherContext);
        tellOfThoseWithoutAnnotation();
        Map<String, List<Found>> all = found().stream().collect(Collectors.groupingBy(Found::bean));
        known = all;
        for (String name : beans.getSingletonNames()) {
            List<Found> its = all.getOrDefault(name, List.of());
            Object bean = beans.containsBeanDefinition(name) ? made(name, its) : null;
            if (bean != null) {
                checkSeen(name, bean, its);
                checkCallable(bean, its);
            }
        }
    }

    /** What a factory makes, such as a scoped proxy, instead of the factory. */
    private @Nullable Object made(String name, List<Found> its) {
        Object bean = beans.getSingleton(name);
        if (bean instanceof FactoryBean<?>) {
            return its.isEmpty() ? null : beans.getBean(name);
        }
        return bean;
    }

    /** A context whose parent has the Windlass: that one looks for handlers among its own beans. */
    private void refuseThoseOfAnotherContext() {
        if (found().isEmpty()) {
            return;
        }
        throw new InvalidHandlerException("bean \"" + found().get(0).bean()
                + "\" handles messages, but the Windlass of its context is a bean of the"
                + " parent context, which knows no beans of its children; put the bean into the parent context");
    }

    /** Nobody knows which messages they handle, unless a customizer says so; then they are meant. */
    private void tellOfThoseWithoutAnnotation() {
        Set<String> annotated = found().stream().map(Found::bean).collect(Collectors.toSet());
        boolean isCustomized = beans.getBeanNamesForType(WindlassCustomizer.class, true, false).length > 0;
        HANDLING.stream()
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, true, false)))
                .filter(name -> !annotated.contains(name) && !ScopedProxyUtils.isScopedTarget(name))
                .distinct()
                .forEach(name -> log.atLevel(isCustomized ? Level.INFO : Level.WARN)
                        .log(
                                "bean \"{}\" is a handler without an annotation, so it gets messages only if a WindlassCustomizer gives it to"
                                        + " the builder; to let it handle a topic, annotate its class, or the method that makes it, with"
                                        + " @OnOutbox, @OnInbox or @OnWork",
                                name));
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        Map<String, List<Found>> all = known;
        List<Object> it = List.of(name, bean.getClass());
        if (all != null && beans.containsBeanDefinition(name) && !lookedAt.contains(it)) {
            String proxy = ScopedProxyUtils.isScopedTarget(name) ? ScopedProxyUtils.getOriginalBeanName(name) : name;
            checkSeen(name, bean, all.getOrDefault(proxy, List.of()));
            lookedAt.add(it);
        }
        return bean;
    }

    private static void checkSeen(String name, Object bean, List<Found> known) {
        Class<?> type = AopUtils.getTargetClass(bean);
        if (!AnnotationUtils.isCandidateClass(type, OURS)) {
            return;
        }
        for (Class<? extends Annotation> annotation : OURS) {
            if (AnnotatedElementUtils.hasAnnotation(type, annotation)
                    && known.stream().noneMatch(each -> each.isBean(annotation))) {
                throw missed(type.getName(), annotation, name, type);
            }
            methods(type, annotation).forEach((method, its) -> {
                if (known.stream().noneMatch(each -> each.is(its, method))) {
                    throw missed(HandlerMethod.name(method), annotation, name, type);
                }
            });
        }
    }

    private static void checkCallable(Object bean, List<Found> known) {
        for (Found each : known) {
            if (each.method != null) {
                var unused = HandlerMethod.invocable(each.method, bean);
            }
        }
    }

    private static InvalidHandlerException missed(
            String who, Class<? extends Annotation> annotation, String bean, Class<?> type) {
        return new InvalidHandlerException(
                who + " has @" + annotation.getSimpleName() + ", but the class of bean \"" + bean
                        + "\" was not known when handlers were looked for; let the method that makes the bean return "
                        + type.getSimpleName() + " itself");
    }
}
