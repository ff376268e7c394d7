package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import javax.sql.DataSource;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Without a data source there is no Windlass, and annotated methods would do nothing, without a word. */
@AutoConfiguration(after = {WindlassAutoConfiguration.class, WindlassFleetAutoConfiguration.class})
@ConditionalOnBooleanProperty(name = "windlass.enabled", matchIfMissing = true)
@ConditionalOnMissingBean({DataSource.class, Windlass.class, Fleet.class})
public final class WindlassWithoutDataSourceAutoConfiguration {

    @Bean
    static SmartInitializingSingleton windlassWithoutDataSource(ConfigurableListableBeanFactory beans) {
        return () -> new HandlerBeans(beans).annotated().ifPresent(bean -> {
            throw NoDataSourceException.noneFor("bean \"" + bean + "\" has methods with its annotations");
        });
    }

    /** An event of a class that is no bean shows when it is published. */
    @Bean
    OutboxEvents windlassOutboxEvents(ConfigurableListableBeanFactory beans) {
        return new OutboxEvents(
                () -> {
                    throw NoDataSourceException.noneFor("an event with @OutboxEvent is published");
                },
                beans);
    }
}
