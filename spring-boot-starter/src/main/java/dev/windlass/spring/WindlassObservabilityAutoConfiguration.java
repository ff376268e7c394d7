package dev.windlass.spring;

import dev.windlass.metrics.WindlassMetrics;
import dev.windlass.trace.ObservationTracing;
import dev.windlass.trace.Tracing;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Meters and traces, where the application has a registry for them. */
@AutoConfiguration(
        before = WindlassAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "windlass.enabled", matchIfMissing = true)
public final class WindlassObservabilityAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Metrics {
        @Bean
        @ConditionalOnBean(MeterRegistry.class)
        @ConditionalOnMissingBean
        WindlassMetrics windlassMetrics(MeterRegistry registry) {
            return new WindlassMetrics(registry);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ObservationRegistry.class)
    static class Traces {
        @Bean
        @ConditionalOnBean(ObservationRegistry.class)
        @ConditionalOnMissingBean(Tracing.class)
        ObservationTracing windlassTracing(ObservationRegistry registry) {
            return new ObservationTracing(registry);
        }
    }
}
