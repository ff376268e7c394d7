package dev.windlass.spring;

import dev.windlass.lease.LeaseRequest;
import dev.windlass.lease.Leases;
import dev.windlass.spring.HandlerMethod.InvalidHandlerException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;

/** Lets methods with {@link UnderLease} run under their lease. Those that cannot are refused when their bean is made, not when they are called. */
final class LeasedMethods extends AbstractBeanFactoryAwareAdvisingPostProcessor {
    private static final long serialVersionUID = 1L;

    private static final Logger log = LoggerFactory.getLogger(LeasedMethods.class);

    /** Those that call methods of beans, such as the listeners of Kafka and RabbitMQ, come last, and keep the bean that they get. */
    private static final int BEFORE_LISTENERS = Ordered.LOWEST_PRECEDENCE - 100;

    private final transient AnnotatedHandlers.Texts texts;

    /** Proxies are made as Spring Boot makes its own. */
    LeasedMethods(Supplier<Leases> leases, ConfigurableBeanFactory beans, Environment environment) {
        this.texts = beans::resolveEmbeddedValue;
        setOrder(BEFORE_LISTENERS);
        setBeforeExistingAdvisors(
                true); // around the transaction of a method: the lease is given back when that has ended
        setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        this.advisor = new DefaultPointcutAdvisor(
                new AnnotationMatchingPointcut(null, UnderLease.class, true), new UnderItsLease(leases, texts));
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof AopInfrastructureBean) {
            return bean; // such as a scoped proxy: what is behind it has the lease
        }
        Class<?> type = AopUtils.getTargetClass(bean);
        Set<Method> leased = isEligible(type) ? methods(type) : Set.of();
        leased.forEach(method -> check(method, type));
        Object proxied = super.postProcessAfterInitialization(bean, name);
        leased.forEach(method -> HandlerMethod.invocable(method, proxied));
        return proxied;
    }

    static Set<Method> methods(Class<?> type) {
        MethodIntrospector.MetadataLookup<UnderLease> leases = LeasedMethods::annotation;
        Map<Method, UnderLease> all = MethodIntrospector.selectMethods(type, leases);
        return all.keySet();
    }

    private static @Nullable UnderLease annotation(Method method) {
        return AnnotatedElementUtils.findMergedAnnotation(method, UnderLease.class);
    }

    private void check(Method method, Class<?> type) {
        if (method.getReturnType() != void.class) {
            throw new InvalidHandlerException(
                    method, "has @UnderLease and returns something; expected void, since it may not be run");
        }
        if (Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
            throw new InvalidHandlerException(
                    method,
                    "has @UnderLease and is private or static; expected a method that a proxy of its bean can call");
        }
        if (HandlerMethod.isAsync(method, type)) {
            throw new InvalidHandlerException(
                    method,
                    "has @UnderLease and is @Async, so the lease would be given back before its work is done; let the"
                            + " @Async method call one of another bean that has @UnderLease");
        }
        HandlerMethod.requireOverridable(method, type);
        AnnotatedHandlers.reading(UnderLease.class, HandlerMethod.name(method), () -> lease(method, texts));
    }

    private static LeaseRequest lease(Method method, AnnotatedHandlers.Texts texts) {
        UnderLease its = Objects.requireNonNull(annotation(method));
        return LeaseRequest.of(
                text(its.value(), texts), AnnotatedHandlers.duration("duration", text(its.duration(), texts)));
    }

    private static String text(String text, AnnotatedHandlers.Texts texts) {
        return Objects.requireNonNullElse(texts.resolve(text), "");
    }

    private record UnderItsLease(Supplier<Leases> leases, AnnotatedHandlers.Texts texts) implements MethodInterceptor {

        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            Method method = AopUtils.getMostSpecificMethod(
                    invocation.getMethod(),
                    Objects.requireNonNull(invocation.getThis()).getClass());
            LeaseRequest its = lease(method, texts);
            boolean done = leases.get().runIfAcquired(its.name(), its.duration(), lease -> proceed(invocation));
            if (!done) {
                log.debug("{} is not run: another node holds lease {}", invocation.getMethod(), its.name());
            }
            return null;
        }

        private static void proceed(MethodInvocation invocation) throws Exception {
            try {
                invocation.proceed();
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
