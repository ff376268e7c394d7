package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.health.Health;
import dev.windlass.health.HealthReport;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Health on Spring Boot 3.5. Its types have other packages there, and this jar is compiled against version 4; so they are found by name. All else
 * is the same in both.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = Boot3HealthConfiguration.INDICATOR)
@Conditional(Boot3HealthConfiguration.OnEnabled.class)
@ImportRuntimeHints(Boot3HealthConfiguration.Hints.class)
class Boot3HealthConfiguration {
    private static final String PACKAGE = "org.springframework.boot.actuate.health.";
    static final String INDICATOR = PACKAGE + "HealthIndicator";

    /** As Spring Boot decides it for its own indicators. */
    static final class OnEnabled implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            boolean usually = environment.getProperty("management.health.defaults.enabled", Boolean.class, true);
            return environment.getProperty("management.health.windlass.enabled", Boolean.class, usually);
        }
    }

    @Bean
    @ConditionalOnMissingBean(name = "windlassHealthIndicator")
    static Indicator<?> windlassHealthIndicator(BeanFactory beans) {
        return new Indicator<>(beans, Health::all);
    }

    @Bean
    @ConditionalOnMissingBean(name = "windlassLivenessHealthIndicator")
    static Indicator<?> windlassLivenessHealthIndicator(BeanFactory beans) {
        return new Indicator<>(beans, Health::live);
    }

    @Bean
    @ConditionalOnMissingBean(name = "windlassReadinessHealthIndicator")
    static Indicator<?> windlassReadinessHealthIndicator(BeanFactory beans) {
        return new Indicator<>(beans, Health::ready);
    }

    private static Class<?> type(String name) {
        return ClassUtils.resolveClassName(name, Boot3HealthConfiguration.class.getClassLoader());
    }

    /**
     * Makes an indicator. Its type is told by a method, since no signature can name it; a bean that is made by a supplier instead cannot be
     * described ahead of time.
     */
    static final class Indicator<T> implements FactoryBean<T> {
        private final BeanFactory beans;
        private final Function<Health, HealthReport> question;
        private final Class<?> type = type(INDICATOR);

        Indicator(BeanFactory beans, Function<Health, HealthReport> question) {
            this.beans = beans;
            this.question = question;
        }

        @Override
        public Class<?> getObjectType() {
            return type;
        }

        @Override
        @SuppressWarnings("unchecked")
        public T getObject() {
            return (T) Proxy.newProxyInstance(
                    type.getClassLoader(),
                    new Class<?>[] {type},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "health" -> told(question.apply(health()), true);
                        case "getHealth" -> told(question.apply(health()), (Boolean) arguments[0]);
                        case "equals" -> proxy == arguments[0];
                        case "hashCode" -> System.identityHashCode(proxy);
                        default -> "health of Windlass";
                    });
        }

        private Health health() {
            Fleet fleet = beans.getBeanProvider(Fleet.class).getIfAvailable();
            return fleet == null ? beans.getBean(Windlass.class).health() : fleet.health();
        }

        private static Object told(HealthReport report, boolean details) {
            Class<?> health = type(PACKAGE + "Health");
            Object builder = call(health, null, HealthDetails.isUp(report) ? "up" : "down");
            if (details) {
                call(builder.getClass(), builder, "withDetails", HealthDetails.of(report));
            }
            return call(builder.getClass(), builder, "build");
        }

        private static Object call(Class<?> type, @Nullable Object target, String name, Map<?, ?>... arguments) {
            Class<?>[] types = arguments.length == 0 ? new Class<?>[0] : new Class<?>[] {Map.class};
            Method method = Objects.requireNonNull(ReflectionUtils.findMethod(type, name, types));
            return Objects.requireNonNull(ReflectionUtils.invokeMethod(method, target, (Object[]) arguments));
        }
    }

    /** What a native image has to know of types that are found by name. */
    static final class Hints implements RuntimeHintsRegistrar {
        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
            hints.proxies().registerJdkProxy(TypeReference.of(INDICATOR));
            for (String called : new String[] {"Health", "Health$Builder"}) {
                hints.reflection()
                        .registerType(TypeReference.of(PACKAGE + called), MemberCategory.INVOKE_PUBLIC_METHODS);
            }
        }
    }
}
