package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.base.WindlassException;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.spring.Given.InvalidPropertyException;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityListeners;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PostPersist;
import jakarta.persistence.PrePersist;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Whoever begins a transaction on Windlass's data source: a message is written exactly if it is committed. */
final class TransactionManagersTest {
    private static final String WITHOUT_AUTO_COMMIT = "spring.datasource.hikari.auto-commit=false";

    static class Handler {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();

        @OnOutbox("a")
        void handle(String payload) {
            handled.add(payload);
        }
    }

    private static void write(Outbox outbox, String payload) {
        var unused = outbox.enqueue(OutboxEntry.of("a", payload));
    }

    private static void awaitHandled(ConfigurableApplicationContext context, String... payloads) {
        write(context.getBean(Outbox.class), "last");
        eventually()
                .untilAsserted(
                        () -> assertThat(context.getBean(Handler.class).handled).contains("last"));
        eventually().until(() -> count(context, "outbox where status in (0, 1)") == 0);
        assertThat(context.getBean(Handler.class).handled)
                .filteredOn(each -> !each.equals("last"))
                .containsExactlyInAnyOrder(payloads);
    }

    public static class Telling {
        static final AtomicReference<@Nullable Outbox> outbox = new AtomicReference<>();

        @PrePersist
        void before(Object thing) {
            tell("before " + ((Thing) thing).id);
        }

        @PostPersist
        void after(Object thing) {
            tell("after " + ((Thing) thing).id);
        }

        private static void tell(String what) {
            Outbox its = outbox.get();
            if (its != null) {
                write(its, what);
            }
        }
    }

    @Entity(name = "told_things")
    @EntityListeners(Telling.class)
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
    @EntityScan(basePackageClasses = TransactionManagersTest.class)
    @Import(Handler.class)
    static class Jpa {}

    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void whatJpaWritesWhileItFlushesAtTheCommitBelongsToTheTransaction(String autoCommit) {
        try (ConfigurableApplicationContext context = Contexts.start(
                Jpa.class,
                "spring.jpa.hibernate.ddl-auto=create",
                "spring.datasource.hikari.auto-commit=" + autoCommit,
                "windlass.transaction-required=false")) {
            Telling.outbox.set(context.getBean(Outbox.class));
            EntityManager entities = context.getBean(EntityManager.class);
            TransactionTemplate transaction =
                    new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            transaction.executeWithoutResult(status -> entities.persist(new Thing(1)));
            assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                        entities.persist(new Thing(2));
                        entities.persist(new Thing(1));
                    }))
                    .isInstanceOf(DataIntegrityViolationException.class);

            awaitHandled(context, "before 1", "after 1");
        } finally {
            Telling.outbox.set(null);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EntityScan(basePackageClasses = TransactionManagersTest.class)
    @Import(Handler.class)
    static class JdbcBesideJpa {
        @Bean
        PlatformTransactionManager transactionManager(DataSource source) {
            return new DataSourceTransactionManager(source);
        }
    }

    /** Such an entity manager has no transaction of its own. */
    @Test
    void aTransactionOfJdbcIsJoinedAlsoIfAnEntityManagerTakesPartInIt() {
        try (ConfigurableApplicationContext context =
                Contexts.start(JdbcBesideJpa.class, "spring.jpa.hibernate.ddl-auto=create")) {
            EntityManager entities = context.getBean(EntityManager.class);
            new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(status -> {
                entities.find(Thing.class, 1L);
                write(context.getBean(Outbox.class), "never");
                status.setRollbackOnly();
            });

            awaitHandled(context);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class})
    @Import(Handler.class)
    static class Jdbc {}

    @OutboxEvent("a")
    record Happened(int number) {}

    @Test
    void whatIsUndoneIsNotSentHoweverItIsUndone() {
        try (ConfigurableApplicationContext context = Contexts.start(Jdbc.class)) {
            Outbox outbox = context.getBean(Outbox.class);
            PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);
            TransactionTemplate outer = new TransactionTemplate(manager);
            TransactionTemplate nested = new TransactionTemplate(manager);
            nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);

            outer.executeWithoutResult(status -> {
                write(outbox, "outer");
                nested.executeWithoutResult(inner -> write(outbox, "nested"));
                nested.executeWithoutResult(inner -> {
                    write(outbox, "nested, undone");
                    inner.setRollbackOnly();
                });
                context.publishEvent(new Happened(1));
            });
            outer.executeWithoutResult(status -> {
                nested.executeWithoutResult(inner -> write(outbox, "undone with the outer one"));
                context.publishEvent(new Happened(2));
                status.setRollbackOnly();
            });

            awaitHandled(context, "outer", "nested", "{\"number\":1}");
        }
    }

    @Test
    void aTransactionThatOnlyReadsTakesNoMessage() {
        try (ConfigurableApplicationContext context = Contexts.start(Jdbc.class)) {
            TransactionTemplate reading = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            reading.setReadOnly(true);

            assertThatThrownBy(() ->
                            reading.executeWithoutResult(status -> write(context.getBean(Outbox.class), "nowhere")))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("read-only");

            awaitHandled(context);
        }
    }

    static class Wrapping implements PlatformTransactionManager {
        private final PlatformTransactionManager target;

        Wrapping(PlatformTransactionManager target) {
            this.target = target;
        }

        @Override
        public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
            return target.getTransaction(definition);
        }

        @Override
        public void commit(TransactionStatus status) {
            target.commit(status);
        }

        @Override
        public void rollback(TransactionStatus status) {
            target.rollback(status);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class})
    @Import(Handler.class)
    static class Wrapped {
        @Bean
        PlatformTransactionManager transactionManager(DataSource source) {
            return new Wrapping(new DataSourceTransactionManager(source));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.b=c", "windlass.transaction-manager=transactionManager", WITHOUT_AUTO_COMMIT})
    void aManagerThatHidesItsDataSourceIsJoinedLikeAnother(String property) {
        try (ConfigurableApplicationContext context = Contexts.start(Wrapped.class, property)) {
            writeAndEnd(context, context.getBean(PlatformTransactionManager.class));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.b=c", WITHOUT_AUTO_COMMIT})
    void aManagerThatIsNoBeanIsJoinedLikeAnother(String property) {
        try (ConfigurableApplicationContext context = Contexts.start(Jdbc.class, property)) {
            writeAndEnd(context, new DataSourceTransactionManager(context.getBean(DataSource.class)));
        }
    }

    private static void writeAndEnd(ConfigurableApplicationContext context, PlatformTransactionManager manager) {
        Outbox outbox = context.getBean(Outbox.class);
        TransactionTemplate transaction = new TransactionTemplate(manager);
        transaction.executeWithoutResult(status -> write(outbox, "committed"));
        transaction.executeWithoutResult(status -> {
            write(outbox, "rolled back");
            status.setRollbackOnly();
        });
        transaction.executeWithoutResult(status -> {
            write(outbox, "in it");
            afterCommit(() -> write(outbox, "after it"));
        });
        transaction.executeWithoutResult(status -> afterCommit(() -> write(outbox, "the first, after it")));
        transaction.executeWithoutResult(status -> {
            afterCommit(() -> write(outbox, "never"));
            status.setRollbackOnly();
        });

        awaitHandled(context, "committed", "in it", "after it", "the first, after it");
    }

    private static void afterCommit(Runnable action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                action.run();
            }
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class})
    @Import(Handler.class)
    static class TwoPools {
        private static HikariDataSource pool() {
            EmbeddedPostgres server = EmbeddedPostgres.shared();
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(server.jdbcUrl());
            pool.setUsername(server.user());
            pool.setPassword(server.password());
            pool.setMaximumPoolSize(5);
            pool.setAutoCommit(false);
            return pool;
        }

        @Bean
        DataSource shop() {
            return pool();
        }

        @Bean
        DataSource archive() {
            return pool();
        }

        @Bean
        JdbcTemplate jdbcTemplate() {
            return new JdbcTemplate(shop());
        }
    }

    /** Spring lends a connection of the shop to such a transaction, and nobody commits it. */
    @Test
    void aTransactionOfAnotherDataSourceIsNotJoinedThoughItHasAConnectionOfWindlasss() {
        try (ConfigurableApplicationContext context = Contexts.start(TwoPools.class, "windlass.data-source=shop")) {
            JdbcTemplate shop = new JdbcTemplate(context.getBean("shop", DataSource.class));
            TransactionTemplate other = new TransactionTemplate(
                    new DataSourceTransactionManager(context.getBean("archive", DataSource.class)));
            other.executeWithoutResult(status -> {
                assertThat(shop.queryForObject("select 1", Integer.class)).isOne();
                write(context.getBean(Outbox.class), "of its own");
            });

            eventually()
                    .untilAsserted(() ->
                            assertThat(context.getBean(Handler.class).handled).containsExactly("of its own"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class})
    @Import(Handler.class)
    static class TwoManagers {
        @Bean
        PlatformTransactionManager one(DataSource source) {
            return new DataSourceTransactionManager(source);
        }

        @Bean
        PlatformTransactionManager another(DataSource source) {
            return new DataSourceTransactionManager(source);
        }
    }

    @Test
    void whichManagerBeginsTransactionsIsKnownAtTheStart() {
        assertThatThrownBy(() -> Contexts.start(TwoManagers.class))
                .hasRootCauseInstanceOf(InvalidPropertyException.class)
                .rootCause()
                .hasMessageContaining("windlass.transaction-manager")
                .hasMessageContaining("[one, another]");
        assertThatThrownBy(() -> Contexts.start(TwoManagers.class, "windlass.transaction-manager=typo"))
                .hasRootCauseInstanceOf(InvalidPropertyException.class)
                .rootCause()
                .hasMessageContaining("expected the name of a transaction manager, which are [one, another]");
        try (ConfigurableApplicationContext context =
                Contexts.start(TwoManagers.class, "windlass.transaction-manager=another")) {
            write(context.getBean(Outbox.class), "1");
            awaitHandled(context, "1");
        }
    }
}
