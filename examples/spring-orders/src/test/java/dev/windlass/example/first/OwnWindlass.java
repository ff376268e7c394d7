package dev.windlass.example.first;

import dev.windlass.Windlass;
import dev.windlass.spring.WindlassConfigurer;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;

/** An application that makes its Windlass by itself; the docs quote it. No component: the others leave that to the starter. */
class OwnWindlass {
    // tag::own
    @Bean
    Windlass windlass(WindlassConfigurer configurer, DataSource pool, @Qualifier("direct") DataSource direct) {
        return configurer.on(pool).backgroundDataSource(direct).build();
    }
    // end::own
}
