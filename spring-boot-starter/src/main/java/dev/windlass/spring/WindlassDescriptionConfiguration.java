package dev.windlass.spring;

import dev.windlass.base.PayloadCodec;
import dev.windlass.event.WindlassListener;
import dev.windlass.schedule.JobSet;
import dev.windlass.trace.Tracing;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.transaction.PlatformTransactionManager;

/** What is the same with one database and with many. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(WindlassProperties.class)
@ImportRuntimeHints(WindlassRuntimeHints.class)
class WindlassDescriptionConfiguration {

    @Bean
    static Durations windlassDurations(Environment environment) {
        return new Durations(environment);
    }

    @Bean
    static HandlerBeans windlassHandlerBeans(ConfigurableListableBeanFactory beans) {
        return new HandlerBeans(beans);
    }

    @Bean
    WindlassDescription windlassDescription(
            WindlassProperties properties,
            ConfigurableListableBeanFactory beans,
            HandlerBeans handlers,
            ObjectProvider<PayloadCodec> codec,
            ObjectProvider<PlatformTransactionManager> managers,
            ObjectProvider<Tracing> tracing,
            ObjectProvider<JobSet> jobs,
            ObjectProvider<WindlassCustomizer> customizers) {
        // Not the mapper of the application: a change to the JSON of its web interface would change stored messages.
        PayloadCodec payloads =
                SeveralBeansException.orOnly(codec, PayloadCodec.class).orElseGet(PayloadCodec::standard);
        return new WindlassDescription(properties, beans, handlers, payloads, managers, tracing, jobs, customizers);
    }

    @Bean
    WindlassConfigurer windlassConfigurer(
            WindlassProperties properties,
            WindlassDescription description,
            ObjectProvider<WindlassListener> listeners,
            ObjectProvider<FleetCustomizer> customizers) {
        return new WindlassConfigurer(properties, description, listeners, customizers);
    }
}
