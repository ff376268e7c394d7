package dev.windlass.spring.boot3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.spring.CronJob;
import dev.windlass.spring.OnOutbox;
import dev.windlass.spring.OutboxEvent;
import dev.windlass.spring.UnderLease;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.data.jpa.JpaRepositoriesAutoConfiguration;
import org.springframework.boot.autoconfigure.domain.EntityScan;
import org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The same jar in an application of Spring Boot 3.5: what depends on its version. */
final class SpringBoot3Test {
    private static final List<Object> handled = new CopyOnWriteArrayList<>();
    private static ConfigurableApplicationContext context;

    record Order(String id) {}

    @OutboxEvent("order.paid")
    record Paid(String order) {}

    interface Reporting {
        void report();
    }

    static class Handlers implements Reporting {
        @OnOutbox("order.placed")
        void placed(Order order) {
            handled.add(order);
        }

        @OnOutbox("order.paid")
        void paid(Paid event) {
            handled.add(event);
        }

        @CronJob(name = "tick", every = "1s")
        void tick() {
            handled.add("tick");
        }

        @Override
        @UnderLease("report")
        public void report() {
            handled.add("report");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = {HibernateJpaAutoConfiguration.class, JpaRepositoriesAutoConfiguration.class})
    @Import(Handlers.class)
    static class Application {}

    @Entity(name = "things")
    static class Thing {
        @Id
        long id;

        Thing() {}

        Thing(long id) {
            this.id = id;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EntityScan(basePackageClasses = Thing.class)
    @Import(Handlers.class)
    static class WithJpa {}

    private static ConfigurableApplicationContext start(String... properties) {
        return start(Application.class, properties);
    }

    private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        List<String> all = new ArrayList<>(List.of(
                "--spring.datasource.url=" + server.jdbcUrl(),
                "--spring.datasource.username=" + server.user(),
                "--spring.datasource.password=" + server.password(),
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN",
                "--management.endpoints.web.exposure.include=*"));
        Arrays.stream(properties).map(each -> "--" + each).forEach(all::add);
        return new SpringApplicationBuilder(application).run(all.toArray(new String[0]));
    }

    @BeforeAll
    static void start() {
        context = start("windlass.ensure-schema=true");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    private static void eventually(Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofSeconds(40)).until(condition);
    }

    @Test
    void itIsThisVersion() {
        assertThat(SpringBootVersion.getVersion()).startsWith("3.5.");
    }

    @Test
    void messagesAreSentExactlyIfTheirTransactionIsCommitted() {
        Outbox outbox = context.getBean(Outbox.class);
        TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        transaction.executeWithoutResult(status -> {
            outbox.enqueue(outbox.entry("order.placed", new Order("rolled back")));
            status.setRollbackOnly();
        });
        transaction.executeWithoutResult(
                status -> outbox.enqueue(outbox.entry("order.placed", new Order("committed"))));
        eventually(() -> handled.contains(new Order("committed")));
        assertThat(handled).doesNotContain(new Order("rolled back"));
    }

    @Test
    void windlassMakesItsTablesAfterFlyway() {
        assertThat(context.getBean(JdbcTemplate.class)
                        .queryForObject("select count(*) from flyway_schema_history where success", Long.class))
                .isOne();
    }

    @Test
    void transactionsOfJpaAreJoinedAlsoByEvents() {
        try (ConfigurableApplicationContext jpa = start(WithJpa.class, "windlass.ensure-schema=true")) {
            EntityManager entities = jpa.getBean(EntityManager.class);
            Outbox outbox = jpa.getBean(Outbox.class);
            PlatformTransactionManager manager = jpa.getBean(PlatformTransactionManager.class);
            assertThat(manager).isInstanceOf(JpaTransactionManager.class);
            TransactionTemplate transaction = new TransactionTemplate(manager);
            transaction.executeWithoutResult(status -> {
                entities.persist(new Thing(1));
                outbox.enqueue(outbox.entry("order.placed", new Order("with an undone thing")));
                jpa.publishEvent(new Paid("with an undone thing"));
                status.setRollbackOnly();
            });
            transaction.executeWithoutResult(status -> {
                entities.persist(new Thing(2));
                outbox.enqueue(outbox.entry("order.placed", new Order("with a thing")));
                jpa.publishEvent(new Paid("with a thing"));
            });
            eventually(() -> handled.contains(new Order("with a thing")) && handled.contains(new Paid("with a thing")));
            assertThat(handled).doesNotContain(new Order("with an undone thing"), new Paid("with an undone thing"));
        }
    }

    @Test
    void jobsAndLeasesWork() {
        eventually(() -> handled.contains("tick"));
        context.getBean(Handlers.class).report();
        assertThat(handled).contains("report");
    }

    @Test
    void actuatorShowsHowItIs() {
        eventually(() -> context.getBean(Windlass.class).isRunning());
        assertThat(context.getBean(HealthEndpoint.class).healthForPath("windlass"))
                .satisfies(health -> assertThat(health.getStatus()).isEqualTo(Status.UP));
        assertThat(context.getBean(HealthEndpoint.class).healthForPath("windlassReadiness"))
                .isNotNull();
        MeterRegistry meters = context.getBean(MeterRegistry.class);
        eventually(() -> meters.getMeters().stream()
                .anyMatch(meter -> meter.getId().getName().startsWith("windlass.")));
        assertThat(context.getBeansOfType(InfoContributor.class)).containsKey("windlassInfoContributor");
    }

    /** As for native images; health is what is found by name here. */
    @Test
    void itsBeansCanBeDescribedAheadOfTime() {
        DefaultGenerationContext generated = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("dev.windlass.spring.boot3", "Generated")),
                new InMemoryGeneratedFiles());
        try (AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of(
                            "spring.datasource.url=" + EmbeddedPostgres.shared().jdbcUrl())
                    .applyTo(source);
            source.register(Application.class);
            new ApplicationContextAotGenerator().processAheadOfTime(source, generated);
            assertThat(source.getBeanDefinitionNames())
                    .contains(
                            "windlassHealthIndicator",
                            "windlassLivenessHealthIndicator",
                            "windlassReadinessHealthIndicator");
        }
        assertThat(RuntimeHintsPredicates.proxies()
                        .forInterfaces(HealthIndicator.class)
                        .test(generated.getRuntimeHints()))
                .isTrue();
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethod(Health.Builder.class, "withDetails")
                        .test(generated.getRuntimeHints()))
                .isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = {HibernateJpaAutoConfiguration.class, JpaRepositoriesAutoConfiguration.class})
    static class WithItsOwnHealth {
        @Bean
        HealthIndicator windlassHealthIndicator() {
            return () -> Health.outOfService().build();
        }
    }

    @Test
    void anIndicatorOfTheApplicationTakesThePlaceOfOurs() {
        try (ConfigurableApplicationContext own = start(WithItsOwnHealth.class, "windlass.ensure-schema=true")) {
            assertThat(own.getBean(HealthEndpoint.class)
                            .healthForPath("windlass")
                            .getStatus())
                    .isEqualTo(Status.OUT_OF_SERVICE);
            assertThat(own.getBean(HealthEndpoint.class)
                            .healthForPath("windlassReadiness")
                            .getStatus())
                    .isIn(Status.UP, Status.DOWN);
        }
    }

    @Test
    void healthThatIsSwitchedOffForAllIsOffForWindlass() {
        String[] off = {"windlass.ensure-schema=true", "management.health.defaults.enabled=false"};
        try (ConfigurableApplicationContext without = start(off)) {
            assertThat(without.containsBean("windlassHealthIndicator")).isFalse();
        }
    }

    @Test
    void aPropertyThatCannotBeFailsTheStart() {
        assertThatThrownBy(() -> start("windlass.outbox.batch-size=0"))
                .hasStackTraceContaining("property windlass.outbox.batch-size");
    }
}
