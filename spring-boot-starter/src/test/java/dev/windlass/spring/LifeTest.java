package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** When Windlass begins and ends in an application, and what it is made of. */
final class LifeTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();
        final CountDownLatch begun = new CountDownLatch(1);

        @OnOutbox("a")
        void handle(String payload) {
            handled.add(payload);
        }

        @OnOutbox("slow")
        void slow(String payload) throws InterruptedException {
            begun.countDown();
            Thread.sleep(500);
            handled.add(payload);
        }
    }

    @Test
    void aContextThatIsStoppedAndStartedGoesOn() {
        try (ConfigurableApplicationContext context = Contexts.start(Application.class)) {
            Outbox outbox = context.getBean(Outbox.class);
            Leases leases = context.getBean(Leases.class);
            Application application = context.getBean(Application.class);

            context.stop();
            outbox.enqueue(OutboxEntry.of("a", "while it is stopped"));
            assertThat(context.getBean(Windlass.class).isRunning()).isFalse();
            context.start();

            eventually().untilAsserted(() -> assertThat(application.handled).containsExactly("while it is stopped"));
            assertThat(leases.tryAcquire("one", Duration.ofSeconds(30))).isPresent();
        }
    }

    @Test
    void handlersFinishBeforeThePoolIsClosed() throws Exception {
        Application application;
        String schema = Contexts.newSchema();
        try (ConfigurableApplicationContext context =
                Contexts.startWith(Application.class, "windlass.schema=" + schema, "windlass.ensure-schema=true")) {
            application = context.getBean(Application.class);
            context.getBean(Outbox.class).enqueue(OutboxEntry.of("slow", "finished"));
            application.begun.await();
        }

        assertThat(application.handled).containsExactly("finished");
        try (ConfigurableApplicationContext next =
                Contexts.startWith(Application.class, "windlass.schema=" + schema, "windlass.workers=false")) {
            assertThat(count(next, "outbox where status = 2")).isOne(); // done, and that was written
        }
    }

    @Test
    void aNodeWithoutWorkersOnlyWrites() {
        try (ConfigurableApplicationContext context = Contexts.start(Application.class, "windlass.workers=false")) {
            context.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "for others"));

            assertThat(count(context, "outbox where status = 0")).isOne();
            assertThat(context.getBean(Windlass.class).isRunning()).isTrue();
        }
    }

    @Test
    void windlassCanBeSwitchedOff() {
        try (ConfigurableApplicationContext context = Contexts.startWith(Application.class, "windlass.enabled=false")) {
            assertThat(context.getBeansOfType(Windlass.class)).isEmpty();
            assertThat(context.getBeansOfType(Outbox.class)).isEmpty();
        }
    }

    @OutboxEvent("happened")
    record Happened(String what) {}

    static class Cleaning {
        private boolean cleaned;

        @UnderLease("clean")
        public void clean() {
            cleaned = true;
        }

        public boolean isCleaned() {
            return cleaned;
        }
    }

    @Test
    void whatIsSwitchedOffIsRefusedInsteadOfBeingLost() {
        try (ConfigurableApplicationContext context =
                Contexts.startAll(List.of(Application.class, Cleaning.class), "windlass.enabled=false")) {
            Cleaning cleaning = context.getBean(Cleaning.class);
            assertThatThrownBy(cleaning::clean)
                    .hasMessageContaining("expected Windlass for @UnderLease, but windlass.enabled is false")
                    .hasMessageContaining("set windlass.workers=false instead");
            assertThat(cleaning.isCleaned()).isFalse();
            assertThatThrownBy(() -> context.publishEvent(new Happened("it")))
                    .hasMessageContaining("expected Windlass for @OutboxEvent, but windlass.enabled is false");
            context.publishEvent("something else");
        }
    }

    /** As components of applications are called, too. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SameNames {
        @Bean({"outbox", "inbox", "timers", "jobs", "leases", "workQueue", "joins", "fleet", "outboxes", "inboxes"})
        Object itsOwn() {
            return new Object();
        }
    }

    @Test
    void beansOfTheApplicationMayHaveTheNamesOfFeatures() {
        try (ConfigurableApplicationContext context = Contexts.start(SameNames.class)) {
            context.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "1"));
            assertThat(count(context, "outbox")).isOne();
        }
        String[] stores = {
            "windlass.stores.north.data-source=dataSource",
            "windlass.stores.north.schema=" + Contexts.newSchema(),
            "windlass.ensure-schema=true"
        };
        try (ConfigurableApplicationContext context = Contexts.startWith(SameNames.class, stores)) {
            assertThat(context.getBean(Fleet.class).at("north").isRunning()).isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Alone {}

    @Test
    void oneFeatureAloneNeedsNoTablesOfOthers() {
        try (ConfigurableApplicationContext context = Contexts.start(Alone.class, "windlass.features=leases")) {
            assertThat(context.getBean(Leases.class).tryAcquire("one", Duration.ofSeconds(30)))
                    .isPresent();
            assertThat(context.getBean(JdbcTemplate.class)
                            .queryForObject(
                                    "select to_regclass(?)::text",
                                    String.class,
                                    context.getEnvironment().getProperty("windlass.schema") + ".outbox"))
                    .isNull();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = DataJpaRepositoriesAutoConfiguration.class)
    static class TwoDatabases {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();

        @OnOutbox("a")
        void handle(String payload) {
            handled.add(payload);
        }

        private static HikariDataSource pool() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(EmbeddedPostgres.shared().jdbcUrl());
            pool.setUsername(EmbeddedPostgres.shared().user());
            pool.setPassword(EmbeddedPostgres.shared().password());
            pool.setMaximumPoolSize(5);
            return pool;
        }

        @Bean
        HikariDataSource shop() {
            return pool();
        }

        @Bean
        HikariDataSource archive() {
            return pool();
        }

        /** One that follows transactions is taken apart. */
        @Bean
        TransactionAwareDataSourceProxy following(@Qualifier("archive") DataSource archive) {
            return new TransactionAwareDataSourceProxy(archive);
        }

        @Bean
        DataSourceTransactionManager shopTransactions(@Qualifier("shop") DataSource shop) {
            return new DataSourceTransactionManager(shop);
        }

        @Bean
        DataSourceTransactionManager archiveTransactions(@Qualifier("archive") DataSource archive) {
            return new DataSourceTransactionManager(archive);
        }
    }

    private static TransactionTemplate transaction(ConfigurableApplicationContext context, String manager) {
        return new TransactionTemplate(context.getBean(manager, DataSourceTransactionManager.class));
    }

    @Test
    void theTransactionOfItsOwnDataSourceIsJoinedAndNoOther() {
        for (String source : List.of("archive", "following")) {
            try (ConfigurableApplicationContext context =
                    Contexts.start(TwoDatabases.class, "windlass.data-source=" + source)) {
                Outbox outbox = context.getBean(Outbox.class);
                Queue<String> handled = context.getBean(TwoDatabases.class).handled;

                transaction(context, "archiveTransactions").executeWithoutResult(status -> {
                    outbox.enqueue(OutboxEntry.of("a", "undone"));
                    status.setRollbackOnly();
                });
                transaction(context, "shopTransactions").executeWithoutResult(status -> {
                    outbox.enqueue(OutboxEntry.of("a", "of another"));
                    status.setRollbackOnly();
                });
                transaction(context, "archiveTransactions")
                        .executeWithoutResult(status -> outbox.enqueue(OutboxEntry.of("a", "done")));

                eventually().untilAsserted(() -> assertThat(handled).containsExactlyInAnyOrder("of another", "done"));
                context.getBean(Windlass.class)
                        .inTransaction(connection -> outbox.enqueue(OutboxEntry.of("a", "by Windlass")));
                eventually().untilAsserted(() -> assertThat(handled).contains("by Windlass"));
            }
        }
    }

    private static FailureAnalysis analysisOf(Class<?> application, String... properties) {
        try (ConfigurableApplicationContext context = Contexts.startWith(application, properties)) {
            throw new AssertionError("it should not have started: " + context);
        } catch (Exception e) {
            FailureAnalysis analysis = new WindlassFailureAnalyzer().analyze(e);
            assertThat(analysis).as("what is said about " + e).isNotNull();
            return Objects.requireNonNull(analysis);
        }
    }

    @Test
    void whatKeepsItFromStartingIsToldWithWhatToDo() {
        FailureAnalysis noSchema = analysisOf(Application.class, "windlass.schema=nowhere");
        assertThat(noSchema.getDescription()).contains("nowhere");
        assertThat(noSchema.getAction()).contains("windlass.ensure-schema=true");

        FailureAnalysis badProperty = analysisOf(Application.class, "windlass.outbox.batch-size=0");
        assertThat(badProperty.getDescription())
                .isEqualTo("property windlass.outbox.batch-size: expected a positive batch size, got 0");
        assertThat(badProperty.getAction()).contains("windlass.outbox.batch-size");

        FailureAnalysis several = analysisOf(TwoDatabases.class);
        assertThat(several.getDescription()).contains("shop, archive, following");
        assertThat(several.getAction()).contains("windlass.data-source");
    }
}
