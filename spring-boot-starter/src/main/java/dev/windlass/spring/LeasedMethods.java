package dev.windlass.spring;

import dev.windlass.lease.Leases;
import dev.windlass.spring.HandlerMethod.InvalidHandlerException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Lets methods with {@link UnderLease} run under their lease. */
final class LeasedMethods extends AbstractBeanFactoryAwareAdvisingPostProcessor {
    private static final long serialVersionUID = 1L;

    private static final Logger log = LoggerFactory.getLogger(LeasedMethods.class);

    LeasedMethods(Supplier<Leases> leases, AnnotatedHandlers.Texts texts) {
        setBeforeExistingAdvisors(true);
        this.advisor = new DefaultPointcutAdvisor(
                new AnnotationMatchingPointcut(null, UnderLease.class, true), new UnderItsLease(leases, texts));
    }

    private record UnderItsLease(Supplier<Leases> leases, AnnotatedHandlers.Texts texts) implements MethodInterceptor {

        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            Method method = AopUtils.getMostSpecificMethod(
                    invocation.getMethod(),
                    Objects.requireNonNull(invocation.getThis()).getClass());
            UnderLease its =
                    Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(method, UnderLease.class));
            if (method.getReturnType() != void.class) {
                throw new InvalidHandlerException(
                        method, "has @UnderLease and returns something; expected void, since it may not be run");
            }
            run(its, invocation);
            return null;
        }

        private void run(UnderLease its, MethodInvocation invocation) throws Throwable {
            String name = text(its.value());
            Duration duration = AnnotatedHandlers.duration(text(its.duration()));
            boolean done = leases.get().runIfAcquired(name, duration, lease -> proceed(invocation));
            if (!done) {
                log.debug("{} is not run: another node holds lease {}", invocation.getMethod(), name);
            }
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

        private String text(String text) {
            return Objects.requireNonNullElse(texts.resolve(text), "");
        }
    }
}
