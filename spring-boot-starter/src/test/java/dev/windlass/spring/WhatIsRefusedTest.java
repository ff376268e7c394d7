package dev.windlass.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Windlass;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.WindlassException;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Timers;
import dev.windlass.spring.WindlassProperties.StoreProperties;
import dev.windlass.trace.ObservationTracing;
import dev.windlass.trace.Tracing;
import io.micrometer.observation.ObservationRegistry;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;

/** What keeps an application from starting, and what it says then: the words that Spring Boot prints, not those of one analyzer. */
@ExtendWith(OutputCaptureExtension.class)
final class WhatIsRefusedTest {

    @Retention(RetentionPolicy.RUNTIME)
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    @interface Starting {}

    @Starting
    static class Application {}

    private static void assertRefused(CapturedOutput output, Class<?> application, String... properties) {
        assertThatThrownBy(() -> Contexts.start(application, properties).close())
                .isInstanceOf(Exception.class);
        assertThat(output).contains("APPLICATION FAILED TO START");
    }

    /** Every duration that there is, so that none is forgotten. */
    static List<String> durations() {
        return durations("windlass", WindlassProperties.class);
    }

    private static List<String> durations(String prefix, Class<?> type) {
        List<String> all = new ArrayList<>();
        for (RecordComponent each : type.getRecordComponents()) {
            String name =
                    prefix + "." + each.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            if (each.getType() == Duration.class) {
                all.add(name);
            } else if (each.getType().isRecord() && !(each.getGenericType() instanceof ParameterizedType)) {
                all.addAll(durations(name, each.getType()));
            }
        }
        return all;
    }

    @Test
    void allDurationsAreLookedAt() {
        assertThat(durations())
                .contains(
                        "windlass.inbox.retention", "windlass.outbox.handlers.timeout", "windlass.fleet.refresh-every")
                .hasSizeGreaterThan(25);
    }

    @ParameterizedTest
    @MethodSource("durations")
    void aDurationWithoutAUnitIsRefused(String property, CapturedOutput output) {
        assertRefused(output, Application.class, property + "=30");
        assertThat(output)
                .contains(
                        "property " + property + ": expected a duration with a unit (ms, s, m, h, d), for example 30s,"
                                + " got 30; say which unit is meant, as in 30s")
                .contains("Change the property " + property + ", which is 30.");
    }

    @Test
    void aDurationWithoutAUnitIsRefusedWhereverItIsWritten(CapturedOutput output) {
        assertRefused(
                output,
                Application.class,
                "windlass.outbox.retention=${shop.keep-for}",
                "shop.keep-for=7",
                "shop.other=5");
        assertThat(output).contains("property windlass.outbox.retention").contains("as in 7s");
    }

    @Test
    void otherDurationsOfSpringBootMayHaveNone() {
        try (ConfigurableApplicationContext context = Contexts.start(
                Application.class, "spring.lifecycle.timeout-per-shutdown-phase=5000", "windlass.outbox.lease=PT1M")) {
            assertThat(context.getBean(WindlassProperties.class).outbox().lease())
                    .isEqualTo(Duration.ofMinutes(1));
        }
    }

    @ParameterizedTest
    @CsvSource({"250ms,PT0.25S", "30s,PT30S", "7d,PT168H", "PT5M,PT5M", "0s,PT0S"})
    void aTextWithAUnitIsADuration(String text, Duration meant) {
        assertThat(Durations.parse(text)).isEqualTo(meant);
    }

    @ParameterizedTest
    @CsvSource({"30", "0", "-5", "' 30 '", "nonsense", "''", "1h30m"})
    void aTextWithoutOneIsNone(String text) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Durations.parse(text))
                .withMessageContaining("for example 30s, got " + text.strip());
    }

    @Starting
    static class Annotated {
        @OnOutbox("a")
        void sent(String payload) {}
    }

    @Starting
    static class WithJob {
        @CronJob(name = "tick", every = "1h")
        void tick() {}
    }

    @Starting
    static class WithJobSet {
        @Bean
        JobSet nightly() {
            return JobSet.of("nightly", 1)
                    .with(Job.every("night", Duration.ofHours(24)).withTopic("night"));
        }
    }

    @Test
    void whatIsAnnotatedNeedsItsFeature(CapturedOutput output) {
        assertRefused(output, Annotated.class, "windlass.features=leases");
        assertThat(output)
                .contains("property windlass.features: expected outbox among the features, for "
                        + Annotated.class.getName() + ".sent, which has @OnOutbox, got leases")
                .contains("Change the property windlass.features, which is leases.");

        assertRefused(output, WithJob.class, "windlass.features=outbox");
        assertThat(output).contains("expected schedule among the features, for " + WithJob.class.getName() + ".tick");

        assertRefused(output, WithJobSet.class, "windlass.features=outbox");
        assertThat(output).contains("expected schedule among the features, for a bean of type JobSet, got outbox");
    }

    record Shop(Outbox outbox) {}

    record Reminders(Timers timers) {}

    @Starting
    @Import(Shop.class)
    static class Writing {}

    @Starting
    @Import(Reminders.class)
    static class Reminding {}

    @Test
    void aBeanOfAFeatureThatIsLeftOutIsRefusedToWhoTakesIt(CapturedOutput output) {
        assertRefused(output, Writing.class, "windlass.features=leases");
        assertThat(output)
                .contains(
                        "the bean of type Outbox belongs to the feature outbox, which is left out by windlass.features.")
                .contains("(" + Shop.class.getName() + ") needs it.")
                .contains("Add outbox to windlass.features");

        assertRefused(output, Reminding.class, "windlass.features=outbox");
        assertThat(output).contains("Add schedule to windlass.features");

        Contexts.start(Writing.class, "windlass.features=outbox").close();
    }

    @Test
    void aDataSourceThatIsNotThereIsToldWithTheProperty(CapturedOutput output) {
        assertRefused(output, Application.class, "windlass.data-source=typo");
        assertThat(output)
                .contains("property windlass.data-source: expected the name of a bean that is a DataSource, got typo;"
                        + " there are dataSource")
                .doesNotContain("Consider defining a bean");
    }

    @Test
    void beansOfAWindlassThatIsSwitchedOffAreToldToBe(CapturedOutput output) {
        assertRefused(output, Writing.class, "windlass.enabled=false");
        assertThat(output)
                .contains("(" + Shop.class.getName() + ") needs a bean of type Outbox, and windlass.enabled is false")
                .contains("windlass.workers=false")
                .contains("ObjectProvider<Outbox>")
                .doesNotContain("Consider defining a bean");
    }

    record Everything(Windlass windlass) {}

    @Starting
    @Import(Everything.class)
    static class TakingEverything {}

    @Test
    void whoTakesOneOfSeveralDatabasesIsToldWhatToTake(CapturedOutput output) {
        assertRefused(output, Writing.class, "windlass.stores.north.data-source=dataSource");
        assertThat(output)
                .contains("(" + Shop.class.getName() + ") needs a bean of type Outbox, and there are several databases")
                .contains("Take Router<Outbox> instead")
                .doesNotContain("Consider defining a bean");

        assertRefused(output, TakingEverything.class, "windlass.stores.north.data-source=dataSource");
        assertThat(output).contains("Take Fleet instead.").doesNotContain("Consider defining a bean");
    }

    static class Handling {
        @OnOutbox("a")
        void handle() {}
    }

    static class Leased {
        @UnderLease("a")
        public void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {
                DataSourceAutoConfiguration.class,
                HibernateJpaAutoConfiguration.class,
                DataJpaRepositoriesAutoConfiguration.class
            })
    static class NoDatabase {}

    @OutboxEvent("happened")
    record Happened(String what) {}

    @Import(Handling.class)
    static class HandlingNowhere extends NoDatabase {}

    @Import(Leased.class)
    static class LeasedNowhere extends NoDatabase {}

    @Import(Shop.class)
    static class WritingNowhere extends NoDatabase {}

    @Test
    void withoutADataSourceOneIsToldToAddIt(CapturedOutput output) {
        assertRefused(output, HandlingNowhere.class);
        assertThat(output)
                .contains("expected a data source for Windlass, since bean \"" + Handling.class.getName()
                        + "\" has methods with its annotations, got none")
                .contains("Add spring-boot-starter-jdbc");

        assertRefused(output, LeasedNowhere.class);
        assertThat(output).contains("since bean \"" + Leased.class.getName());

        assertRefused(output, WritingNowhere.class);
        assertThat(output)
                .contains("needs a bean of type Outbox, and there is none, since there is no DataSource")
                .doesNotContain("Consider defining a bean");

        Contexts.start(HandlingNowhere.class, "windlass.enabled=false").close();
        try (ConfigurableApplicationContext context = Contexts.start(NoDatabase.class)) {
            assertThatThrownBy(() -> context.publishEvent(new Happened("it")))
                    .hasMessageContaining(
                            "expected a data source for Windlass, since an event with @OutboxEvent is published, got none");
        }
    }

    @Starting
    static class WithHandlers {
        @Bean
        OutboxHandler forgotten() {
            return (message, cancellation) -> {};
        }

        @Bean
        @OnOutbox("a")
        OutboxHandler annotated() {
            return (message, cancellation) -> {};
        }
    }

    @Starting
    static class WithCustomizer extends WithHandlers {
        @Bean
        WindlassCustomizer customizer(@Qualifier("forgotten") OutboxHandler handler) {
            return builder -> builder.outboxHandler("b", handler);
        }
    }

    @Test
    void aHandlerWithoutAnAnnotationIsToldByName(CapturedOutput output) {
        String logged = "logging.level.dev.windlass.spring.HandlerBeans=INFO";

        Contexts.start(WithHandlers.class, logged).close();
        assertThat(output)
                .containsPattern(
                        "WARN .*bean \"forgotten\" is a handler without an annotation, so it gets messages only if")
                .doesNotContain("bean \"annotated\"");

        Contexts.start(WithCustomizer.class, logged).close();
        assertThat(output).containsPattern("INFO .*bean \"forgotten\" is a handler without an annotation");
    }

    record Needy(Runnable nobodyMakesThis) {}

    @Starting
    @Import({Needy.class, Optionally.class})
    static class NeedingAnother {}

    static class Optionally {
        Optionally(ObjectProvider<Outbox> outbox) {
            assertThat(outbox.getIfAvailable()).isNull();
        }
    }

    @Test
    void otherBeansThatAreMissingAreToldAsUsual(CapturedOutput output) {
        assertRefused(output, NeedingAnother.class, "windlass.enabled=false");
        assertThat(output).contains("Consider defining a bean of type 'java.lang.Runnable'");
    }

    @Starting
    static class TwoCodecs {
        @Bean
        PayloadCodec first() {
            return PayloadCodec.standard();
        }

        @Bean
        PayloadCodec second() {
            return PayloadCodec.standard();
        }
    }

    @Starting
    static class TwoTracings {
        @Bean
        Tracing ours() {
            return new ObservationTracing(ObservationRegistry.create());
        }

        @Bean
        Tracing theirs() {
            return new ObservationTracing(ObservationRegistry.create());
        }
    }

    @Test
    void ofTwoBeansNoneIsTakenWithoutAWord(CapturedOutput output) {
        assertRefused(output, TwoCodecs.class);
        assertThat(output)
                .contains("expected one bean of type PayloadCodec, or a primary one, for Windlass, got first, second")
                .contains("Make one of them @Primary, or take the others away.");

        assertRefused(output, TwoTracings.class);
        assertThat(output)
                .contains("expected one bean of type Tracing, or a primary one, for Windlass, got ours, theirs");
    }

    @Starting
    static class Careless {
        @Bean
        ApplicationRunner first(Outbox outbox) {
            return arguments -> outbox.enqueue(OutboxEntry.of("a", "without a transaction"));
        }
    }

    @Test
    void aWriteWithoutATransactionIsToldWithWhoWroteIt(CapturedOutput output) {
        assertRefused(output, Careless.class, "windlass.transaction-required=true");
        assertThat(output)
                .contains("it is to be a part of a transaction")
                .contains("or allow it (windlass.transaction-required=false)")
                .contains("It was written by " + Careless.class.getName())
                .contains("windlass.transaction-required=false")
                .doesNotContain("windlass migrate");
    }

    @Starting
    static class Failing {
        @Bean
        ApplicationRunner first() {
            return arguments -> {
                throw new WindlassException("something else");
            };
        }
    }

    @Test
    void whatNobodyCanHelpWithKeepsItsStackTrace(CapturedOutput output) {
        assertThatThrownBy(() -> Contexts.start(Failing.class).close()).hasStackTraceContaining("something else");
        assertThat(output).doesNotContain("APPLICATION FAILED TO START").contains("at " + Failing.class.getName());
    }

    /** In whichever order their jars are on the class path. */
    @Test
    void ourAnalyzersAreAskedBeforeThoseOfSpringBoot() {
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            List<FailureAnalyzer> all = new ArrayList<>(SpringFactoriesLoader.forDefaultResourceLocation()
                    .load(
                            FailureAnalyzer.class,
                            ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
                                    .and(Environment.class, context.getEnvironment()),
                            (type, name, missing) -> {}));
            Collections.reverse(all);
            AnnotationAwareOrderComparator.sort(all);
            assertThat(all.subList(0, 2))
                    .hasOnlyElementsOfTypes(WindlassFailureAnalyzer.class, AbsentBeanAnalyzer.class);
        }
    }

    @Test
    void withoutJacksonOneIsToldToAddIt() {
        FailureAnalysis analysis = new WindlassFailureAnalyzer()
                .analyze(new WindlassException("expected a codec for typed payloads, found none; add Jackson"));
        assertThat(Objects.requireNonNull(analysis).getAction())
                .contains("spring-boot-starter-jackson")
                .doesNotContain("migrate");
    }

    @ParameterizedTest
    @CsvSource({"localhost:1/shop,postgres", "HERE/not_there,postgres", "HERE/postgres,nobody"})
    void aDatabaseThatCannotBeReachedIsToldWithoutASchema(String address, String user, CapturedOutput output) {
        String here = EmbeddedPostgres.shared().jdbcUrl().replaceFirst("jdbc:postgresql://([^/]*)/.*", "$1");
        assertThatThrownBy(() -> OwnDatabase.builder(Application.class)
                        .run(
                                "--spring.datasource.url=jdbc:postgresql://" + address.replace("HERE", here),
                                "--spring.datasource.username=" + user,
                                "--spring.datasource.hikari.connection-timeout=1000",
                                "--windlass.ensure-schema=true"))
                .isInstanceOf(Exception.class);
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("check that its server answers, and spring.datasource.url")
                .doesNotContain("windlass migrate");
    }

    @Test
    void aMisspeltAddressOfAStoreIsRefusedWithoutItsPassword(CapturedOutput output) {
        assertRefused(
                output,
                Application.class,
                "windlass.stores.west.url=jdbc:postgresql:/bad?user=shop&password=secret",
                "windlass.stores.west.password=secret");
        assertThat(output)
                .contains(
                        "property windlass.stores.west.url: expected an address that a driver on the class path takes, such as"
                                + " jdbc:postgresql://host:5432/database, got jdbc:postgresql:/bad")
                .doesNotContain("secret");
    }

    @Test
    void aPoolOfOneConnectionIsRefusedToWhoHandlesWork(CapturedOutput output) {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        String[] properties = {
            "--spring.datasource.url=" + server.jdbcUrl(),
            "--spring.datasource.username=" + server.user(),
            "--spring.datasource.password=" + server.password(),
            "--spring.datasource.hikari.maximum-pool-size=1",
            "--windlass.schema=" + Contexts.newSchema(),
            "--windlass.ensure-schema=true"
        };
        assertThatThrownBy(() -> OwnDatabase.builder(Application.class).run(properties))
                .isInstanceOf(Exception.class);
        assertThat(output)
                .contains(
                        "property spring.datasource.hikari.maximum-pool-size: expected a pool of two connections or more");

        try (ConfigurableApplicationContext writing = OwnDatabase.builder(Application.class)
                .properties("windlass.workers=false")
                .run(properties)) {
            Outbox outbox = writing.getBean(Outbox.class);
            assertThat(outbox.enqueue(OutboxEntry.of("a", "for others"))).isNotNull();
        }
    }

    @Test
    void propertiesDoNotPrintPasswords() {
        StoreProperties store = new StoreProperties(null, "jdbc:postgresql://db/x?password=one", "shop", "two", null);
        assertThat(store.toString())
                .isEqualTo("StoreProperties[dataSource=null, url=***, username=shop, password=***, schema=null]");
        try (ConfigurableApplicationContext context = Contexts.start(
                Application.class,
                "windlass.stores.north.url=jdbc:postgresql://localhost:1/x?password=secret",
                "windlass.stores.north.password=secret")) {
            assertThat(context.getBean(WindlassProperties.class).toString())
                    .contains("north=StoreProperties[")
                    .doesNotContain("secret");
        }
    }
}
