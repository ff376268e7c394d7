package dev.windlass.spring;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Where Windlass is switched off, an event that is not written would be lost, and a method would run without its lease: both are refused. */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "windlass.enabled", havingValue = false)
public final class WindlassDisabledAutoConfiguration {

    @Bean
    static LeasedMethods windlassLeasedMethods(ConfigurableListableBeanFactory beans, Environment environment) {
        return new LeasedMethods(
                () -> {
                    throw switchedOff("@UnderLease");
                },
                beans,
                environment);
    }

    @Bean
    OutboxEvents windlassOutboxEvents(ConfigurableListableBeanFactory beans) {
        return new OutboxEvents(
                () -> {
                    throw switchedOff("@OutboxEvent");
                },
                beans);
    }

    private static IllegalStateException switchedOff(String annotation) {
        return new IllegalStateException("expected Windlass for " + annotation
                + ", but windlass.enabled is false; set windlass.workers=false instead, with which this node handles no"
                + " messages, and still writes events and takes leases");
    }
}
