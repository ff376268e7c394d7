package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.health.Health;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** Health, the state of the queues, and what runs here, for Spring Boot's Actuator. */
@AutoConfiguration(
        after = {WindlassAutoConfiguration.class, WindlassFleetAutoConfiguration.class},
        // which makes the groups for probes, and says that it comes last: of two that say so, the order here decides
        afterName =
                "org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration")
@Conditional(WindlassActuatorAutoConfiguration.OnAny.class)
@EnableConfigurationProperties(WindlassProperties.class)
@Import(Boot3HealthConfiguration.class)
public final class WindlassActuatorAutoConfiguration {

    static final class OnAny extends AnyNestedCondition {
        OnAny() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnBean(Windlass.class)
        static class One {}

        @ConditionalOnBean(Fleet.class)
        static class Several {}
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    @ConditionalOnEnabledHealthIndicator("windlass")
    static class OfHealth {
        private final Supplier<Health> health;

        OfHealth(ObjectProvider<Windlass> one, ObjectProvider<Fleet> several) {
            health = () -> Optional.ofNullable(several.getIfAvailable())
                    .map(Fleet::health)
                    .orElseGet(() -> one.getObject().health());
        }

        @Bean
        @ConditionalOnMissingBean(name = "windlassHealthIndicator")
        HealthIndicator windlassHealthIndicator() {
            return new WindlassHealthIndicator(() -> health.get().all());
        }

        @Bean
        @ConditionalOnMissingBean(name = "windlassLivenessHealthIndicator")
        HealthIndicator windlassLivenessHealthIndicator() {
            return new WindlassHealthIndicator(() -> health.get().live());
        }

        @Bean
        @ConditionalOnMissingBean(name = "windlassReadinessHealthIndicator")
        HealthIndicator windlassReadinessHealthIndicator() {
            return new WindlassHealthIndicator(() -> health.get().ready());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthEndpointGroupsPostProcessor.class)
    @ConditionalOnEnabledHealthIndicator("windlass")
    static class OfProbes {
        @Bean
        static WindlassHealthGroups windlassHealthGroups(Environment environment) {
            return new WindlassHealthGroups(environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static class OfEndpoint {
        @Bean
        @ConditionalOnAvailableEndpoint
        @ConditionalOnMissingBean
        WindlassEndpoint windlassEndpoint(
                ObjectProvider<Windlass> one, ObjectProvider<Fleet> several, WindlassProperties properties) {
            return new WindlassEndpoint(one, several, properties);
        }

        @Bean
        @ConditionalOnEnabledInfoContributor("windlass")
        InfoContributor windlassInfoContributor(WindlassProperties properties) {
            return new WindlassInfo(properties);
        }
    }
}
