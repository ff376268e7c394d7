package dev.windlass.spring;

import dev.windlass.Windlass;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Health and the state of the queues for Spring Boot's Actuator. */
@AutoConfiguration(after = WindlassAutoConfiguration.class)
@ConditionalOnBean(Windlass.class)
public final class WindlassActuatorAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    static class Health {
        @Bean
        @ConditionalOnEnabledHealthIndicator("windlass")
        @ConditionalOnMissingBean(name = "windlassHealthIndicator")
        HealthIndicator windlassHealthIndicator(Windlass windlass) {
            return new WindlassHealthIndicator(() -> windlass.health().all());
        }

        @Bean
        @ConditionalOnEnabledHealthIndicator("windlass")
        @ConditionalOnMissingBean(name = "windlassLivenessHealthIndicator")
        HealthIndicator windlassLivenessHealthIndicator(Windlass windlass) {
            return new WindlassHealthIndicator(() -> windlass.health().live());
        }

        @Bean
        @ConditionalOnEnabledHealthIndicator("windlass")
        @ConditionalOnMissingBean(name = "windlassReadinessHealthIndicator")
        HealthIndicator windlassReadinessHealthIndicator(Windlass windlass) {
            return new WindlassHealthIndicator(() -> windlass.health().ready());
        }
    }
}
