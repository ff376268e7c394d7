package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.Router;
import dev.windlass.store.Store;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ResolvableType;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Applications that make a Windlass, or a fleet, themselves. */
@ExtendWith(OutputCaptureExtension.class)
final class OwnWindlassTest {
    private static final String LOGGED = "logging.level.dev.windlass.spring.OwnWindlass=WARN";

    @Retention(RetentionPolicy.RUNTIME)
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    @interface Starting {}

    static class Handling {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();

        @OnOutbox("a")
        void handle(String payload) {
            handled.add(payload);
        }
    }

    private static void assertThatItWorks(ConfigurableApplicationContext context, Outbox outbox) {
        TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        transaction.executeWithoutResult(status -> {
            outbox.enqueue(OutboxEntry.of("a", "rolled back"));
            status.setRollbackOnly();
        });
        transaction.executeWithoutResult(status -> outbox.enqueue(OutboxEntry.of("a", "committed")));

        Queue<String> handled = context.getBean(Handling.class).handled;
        eventually().untilAsserted(() -> assertThat(handled).containsExactly("committed"));
    }

    @Starting
    @Import(Handling.class)
    static class Configured {
        @Bean
        Windlass own(WindlassConfigurer configurer, DataSource source) {
            return configurer.on(new TransactionAwareDataSourceProxy(source)).build();
        }
    }

    @Test
    void whatTheApplicationSaysHoldsForItsOwnWindlass() {
        try (ConfigurableApplicationContext context = Contexts.start(Configured.class)) {
            assertThat(context.getBeanNamesForType(Windlass.class)).containsExactly("own");
            eventually().until(() -> context.getBean(Windlass.class).isRunning());

            assertThatItWorks(context, context.getBean(Outbox.class));
            assertThat(count(context, "outbox")).isOne();
        }
    }

    @Starting
    @Import(Handling.class)
    static class Unconfigured {
        @Bean
        Windlass own(DataSource source) {
            return Windlass.on(source).build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {
                DataSourceAutoConfiguration.class,
                HibernateJpaAutoConfiguration.class,
                DataJpaRepositoriesAutoConfiguration.class
            })
    @Import(Handling.class)
    static class UnconfiguredWithoutDataSource {
        @Bean
        Windlass own() {
            return Windlass.on(EmbeddedPostgres.shared().dataSource()).build();
        }
    }

    @Test
    void oneThatDoesNotKnowTheHandlersIsRefused(CapturedOutput output) {
        refused(Unconfigured.class);
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(Handling.class.getName()
                        + "\" handles messages, but bean \"own\" was not made by WindlassConfigurer: it knows no annotated"
                        + " methods, no properties windlass.* and no transactions of Spring's")
                .contains("configurer.on(dataSource) instead of Windlass.on(dataSource)");
        refused(Unconfigured.class, "spring.main.lazy-initialization=true");
        refused(UnconfiguredWithoutDataSource.class);
    }

    private static void refused(Class<?> application, String... properties) {
        assertThatThrownBy(() -> Contexts.start(application, properties).close())
                .hasStackTraceContaining("handles messages, but bean \"own\" was not made by WindlassConfigurer");
    }

    @Test
    void oneOnANodeThatHandlesNothingMayBeAsItIs(CapturedOutput output) {
        Contexts.startWith(Configured.class, "windlass.schema=of_others", "windlass.ensure-schema=true")
                .close();
        try (ConfigurableApplicationContext context =
                Contexts.startWith(UnconfiguredOnItsSchema.class, "windlass.workers=false", LOGGED)) {
            context.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "for others"));
        }
        assertThat(output).contains("bean \"own\" was not made by WindlassConfigurer, so it joins no transactions");
    }

    @Starting
    @Import(Handling.class)
    static class UnconfiguredOnItsSchema {
        @Bean
        Windlass own(DataSource source) {
            return Windlass.on(source)
                    .options(its -> its.withSchemaName("of_others").withBackgroundWorkers(false))
                    .build();
        }
    }

    @Starting
    @Import(Handling.class)
    static class ConfiguredFleet {
        @Bean
        Fleet own(WindlassConfigurer configurer, DataSource source, @Value("${windlass.schema}_north") String schema) {
            Store north = Store.of("north", source).withSchema(schema);
            return configurer.configure(Fleet.over(List.of(north))).build();
        }
    }

    @Test
    void soItIsWithAFleet() {
        try (ConfigurableApplicationContext context = Contexts.start(ConfiguredFleet.class)) {
            Router<Outbox> outboxes = context.<Router<Outbox>>getBeanProvider(
                            ResolvableType.forClassWithGenerics(Router.class, Outbox.class))
                    .getObject();
            assertThatItWorks(context, outboxes.get("north"));
        }
        assertThatThrownBy(() -> Contexts.start(UnconfiguredFleet.class).close())
                .hasStackTraceContaining("handles messages, but bean \"own\" was not made by WindlassConfigurer");
    }

    @Starting
    @Import(Handling.class)
    static class UnconfiguredFleet {
        @Bean
        Fleet own(DataSource source) {
            return Fleet.over(List.of(Store.of("north", source))).build();
        }
    }
}
