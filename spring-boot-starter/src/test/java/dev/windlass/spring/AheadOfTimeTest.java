package dev.windlass.spring;

import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;

/** Applications whose beans are decided at build time, as for native images. */
final class AheadOfTimeTest {
    static final List<Order> handled = new CopyOnWriteArrayList<>();

    record Order(String id, int amount) {}

    @OutboxEvent("order.shipped")
    record Shipped(String id) {}

    public static class Handlers {
        @OnOutbox("order.placed")
        public void placed(Order order) {
            handled.add(order);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    @Import(Handlers.class)
    static class Application {}

    private static void describe(GenericApplicationContext context, String schema) {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "spring.datasource.url",
                                server.jdbcUrl(),
                                "spring.datasource.username",
                                server.user(),
                                "spring.datasource.password",
                                server.password(),
                                "windlass.schema",
                                schema,
                                "spring.flyway.enabled",
                                "false",
                                "spring.liquibase.enabled",
                                "false",
                                "windlass.ensure-schema",
                                "true")));
    }

    @Test
    @CompileWithForkedClassLoader
    void whatWasGeneratedAheadOfTimeHandlesMessages() {
        String schema = Contexts.newSchema();
        TestGenerationContext generated = new TestGenerationContext();
        ClassName initializer;
        try (AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext()) {
            describe(source, schema);
            source.register(Application.class);
            initializer = new ApplicationContextAotGenerator().processAheadOfTime(source, generated);
        }
        generated.writeGeneratedContent();
        assertHints(generated.getRuntimeHints());

        TestCompiler.forSystem().with(generated).compile(compiled -> {
            try (GenericApplicationContext context = new GenericApplicationContext()) {
                context.setClassLoader(compiled.getClassLoader());
                describe(context, schema);
                @SuppressWarnings("unchecked")
                ApplicationContextInitializer<GenericApplicationContext> made =
                        compiled.getInstance(ApplicationContextInitializer.class, initializer.reflectionName());
                made.initialize(context);
                context.refresh();
                Outbox outbox = context.getBean(Outbox.class);
                outbox.enqueue(outbox.entry("order.placed", new Order("1", 7)));
                eventually().until(() -> handled.contains(new Order("1", 7)));
            }
        });
    }

    private static void assertHints(RuntimeHints hints) {
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(Handlers.class, "placed")
                        .test(hints))
                .isTrue();
        assertThat(RuntimeHintsPredicates.reflection().onType(Order.class).test(hints))
                .isTrue();
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(Shipped.class, "id")
                        .test(hints))
                .as("what only writes it knows an event as JSON, too")
                .isTrue();
        assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Outbox.class).test(hints))
                .isTrue();
        assertThat(RuntimeHintsPredicates.resource()
                        .forResource("dev/windlass/internal/schema/postgresql/queue_verbs.sql")
                        .test(hints))
                .isTrue();
    }
}
