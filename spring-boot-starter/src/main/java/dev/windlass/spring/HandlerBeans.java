package dev.windlass.spring;

import dev.windlass.spring.HandlerMethod.InvalidHandlerException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Finds the beans with our annotations by what is known of their classes, without making them: they may need what handles their messages.
 *
 * <p>A bean whose class is known only when it has been made, since the method that makes it says less, would be left out without a word. So
 * all that have been made are looked at again at the end, and the start fails if one was missed.
 */
final class HandlerBeans implements SmartInitializingSingleton {
    private static final List<Class<? extends Annotation>> OURS =
            List.of(OnOutbox.class, OnInbox.class, OnWork.class, CronJob.class);

    private final ConfigurableListableBeanFactory beans;
    private final Set<String> found = new HashSet<>();
    private boolean searched;

    HandlerBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    void addTo(AnnotatedHandlers handlers) {
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : typeOf(name);
            if (type != null) {
                add(name, type, handlers);
            }
        }
        searched = true;
    }

    private @Nullable Class<?> typeOf(String name) {
        Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
        return type == null || !AnnotationUtils.isCandidateClass(type, OURS) ? null : type;
    }

    private void add(String name, Class<?> type, AnnotatedHandlers handlers) {
        Supplier<Object> bean = () -> beans.getBean(name);
        for (Class<? extends Annotation> annotation : OURS) {
            Annotation ofBean = beans.findAnnotationOnBean(name, annotation, false);
            if (ofBean != null) {
                found.add(name);
                handlers.bean(ofBean, type, bean);
            }
            methods(type, annotation).forEach((method, its) -> {
                found.add(name);
                handlers.method(its, method, bean);
            });
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

    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getSingletonNames()) {
            Object bean = searched && beans.containsBeanDefinition(name) ? beans.getSingleton(name) : null;
            if (bean != null && !found.contains(name)) {
                checkNothingMissed(name, AopUtils.getTargetClass(bean));
            }
        }
    }

    private static void checkNothingMissed(String name, Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, OURS)) {
            return;
        }
        for (Class<? extends Annotation> annotation : OURS) {
            for (Method method : methods(type, annotation).keySet()) {
                throw new InvalidHandlerException(
                        method.getDeclaringClass().getName() + "." + method.getName() + " has @"
                                + annotation.getSimpleName() + ", but the class of bean \"" + name
                                + "\" was not known when handlers were looked for; let the method that makes the bean return "
                                + type.getSimpleName() + " itself");
            }
        }
    }
}
