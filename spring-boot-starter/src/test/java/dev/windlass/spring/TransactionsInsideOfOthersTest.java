package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.base.TransactionEnd;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.Router;
import jakarta.persistence.EntityManagerFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.ResolvableType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** In a transaction of the shop, Windlass's data source, there is one of the archive: what is written there belongs to the shop's. */
final class TransactionsInsideOfOthersTest {
    private @Nullable ConfigurableApplicationContext started;

    record Archived(String what) {}

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Databases {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();

        private static HikariDataSource pool() {
            EmbeddedPostgres server = EmbeddedPostgres.shared();
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(server.jdbcUrl());
            pool.setUsername(server.user());
            pool.setPassword(server.password());
            pool.setMaximumPoolSize(6);
            return pool;
        }

        @Bean
        @Primary
        DataSource shop() {
            return pool();
        }

        @Bean
        DataSource archive() {
            return pool();
        }

        @Bean
        PlatformTransactionManager ofArchive() {
            return new JdbcTransactionManager(archive());
        }

        @OnOutbox("a")
        void handle(String payload) {
            handled.add(payload);
        }
    }

    static class Listener {
        private final Outbox outbox;

        Listener(Outbox outbox) {
            this.outbox = outbox;
        }

        @TransactionalEventListener
        public void archived(Archived archived) {
            write(outbox, archived.what());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class})
    @Import({Databases.class, Listener.class})
    static class Jdbc {
        @Bean
        @Primary
        PlatformTransactionManager ofShop(DataSource shop) {
            return new JdbcTransactionManager(shop);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EntityScan(basePackageClasses = TransactionManagersTest.class)
    @Import({Databases.class, Listener.class})
    static class Jpa {
        @Bean
        @Primary
        PlatformTransactionManager ofShop(EntityManagerFactory entities) {
            return new JpaTransactionManager(entities);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class})
    @Import({Databases.class, Listener.class})
    static class NoBean {}

    /** Whose transaction of the shop it is. */
    enum Manager {
        JDBC(Jdbc.class),
        JPA(Jpa.class),
        NO_BEAN(NoBean.class) {
            @Override
            PlatformTransactionManager of(ConfigurableApplicationContext context) {
                return new JdbcTransactionManager(context.getBean("shop", DataSource.class));
            }
        };

        final Class<?> application;

        Manager(Class<?> application) {
            this.application = application;
        }

        PlatformTransactionManager of(ConfigurableApplicationContext context) {
            return context.getBean("ofShop", PlatformTransactionManager.class);
        }
    }

    @AfterEach
    void stop() {
        if (started != null) {
            started.close();
        }
    }

    private ConfigurableApplicationContext context() {
        return Objects.requireNonNull(started);
    }

    private static void write(Outbox outbox, String payload) {
        var unused = outbox.enqueue(OutboxEntry.of("a", payload));
    }

    private void write(String payload) {
        write(context().getBean(Outbox.class), payload);
    }

    private Queue<String> handled() {
        return context().getBean(Databases.class).handled;
    }

    private TransactionTemplate archive() {
        return new TransactionTemplate(context().getBean("ofArchive", PlatformTransactionManager.class));
    }

    private JdbcTemplate jdbc() {
        return new JdbcTemplate(context().getBean("shop", DataSource.class));
    }

    private void writeAfterCommit(String payload) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                write(payload);
            }
        });
    }

    /** Ways to write a message in a transaction of the archive, or when that has been committed. */
    private List<Consumer<String>> ways() {
        return List.of(
                this::write,
                this::writeAfterCommit,
                message -> context().publishEvent(new Archived(message)),
                message -> {
                    write(message + " and");
                    writeAfterCommit(message);
                });
    }

    private void writeInside(Consumer<String> way, String message) {
        archive().executeWithoutResult(inner -> way.accept(message));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsWrittenInAnInnerTransactionAndAfterItEndsAsTheOuterOneDoes(Manager manager) {
        started = Contexts.start(manager.application);
        TransactionTemplate shop = new TransactionTemplate(manager.of(context()));
        for (Consumer<String> way : ways()) {
            shop.executeWithoutResult(status -> {
                jdbc().update("create table never_there ()");
                writeInside(way, "undone");
                status.setRollbackOnly();
            });
            shop.executeWithoutResult(status -> writeInside(way, "done"));
        }

        eventually()
                .untilAsserted(() ->
                        assertThat(handled()).containsExactlyInAnyOrder("done", "done", "done", "done and", "done"));
        assertThat(count(context(), "outbox")).isEqualTo(5);
        assertThat(jdbc().queryForObject("select to_regclass('never_there')", String.class))
                .isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"JDBC", "JPA"})
    void whoAsksInTheInnerOneIsToldOfTheEndOfTheOuterOne(Manager manager) {
        started = Contexts.start(manager.application);
        ConfigurableApplicationContext context = context();
        PlatformTransactionManager ofShop = manager.of(context);
        SpringTransactions transactions = new SpringTransactions(context.getBean("shop", DataSource.class), ofShop);
        ((ConfigurableTransactionManager) ofShop).addListener(transactions);
        List<TransactionEnd> ends = new ArrayList<>();
        TransactionTemplate shop = new TransactionTemplate(ofShop);
        shop.executeWithoutResult(status -> {
            archive().executeWithoutResult(inner -> transactions.whenEnded(ends::add));
            assertThat(ends).isEmpty();
        });
        assertThat(ends).containsExactly(TransactionEnd.COMMITTED);
        shop.executeWithoutResult(status -> {
            archive().executeWithoutResult(inner -> transactions.whenEnded(ends::add));
            status.setRollbackOnly();
        });
        assertThat(ends).containsExactly(TransactionEnd.COMMITTED, TransactionEnd.ROLLED_BACK);
    }

    @Test
    void aTransactionWithoutSynchronizationIsJoined() {
        started = Contexts.start(Jdbc.class);
        JdbcTransactionManager manager = (JdbcTransactionManager) Manager.JDBC.of(context());
        manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
        TransactionTemplate shop = new TransactionTemplate(manager);
        shop.executeWithoutResult(status -> {
            write("undone");
            status.setRollbackOnly();
        });
        shop.executeWithoutResult(status -> write("done"));
        write("alone");

        eventually().untilAsserted(() -> assertThat(handled()).containsExactlyInAnyOrder("done", "alone"));
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    @Test
    void aMessageIsRefusedWhenTheTimeOfItsTransactionIsOver() {
        started = Contexts.start(Jdbc.class);
        TransactionTemplate shop = new TransactionTemplate(Manager.JDBC.of(context()));
        shop.setTimeout(1);

        assertThatThrownBy(() -> shop.executeWithoutResult(status -> {
                    ConnectionHolder holder =
                            Objects.requireNonNull((ConnectionHolder) TransactionSynchronizationManager.getResource(
                                    context().getBean("shop", DataSource.class)));
                    Instant deadline =
                            Objects.requireNonNull(holder.getDeadline()).toInstant();
                    eventually().until(() -> !Instant.now().isBefore(deadline));
                    write("late");
                }))
                .isInstanceOf(TransactionTimedOutException.class);
        assertThat(count(context(), "outbox")).isZero();
    }

    /** Then nobody tells whose end it is. */
    @Test
    void theOuterOneIsLeftToItsManagerAlsoIfNoneOfThemIsABean() {
        started = Contexts.start(NoBean.class);
        TransactionTemplate shop = new TransactionTemplate(Manager.NO_BEAN.of(context()));
        TransactionTemplate archive =
                new TransactionTemplate(new JdbcTransactionManager(context().getBean("archive", DataSource.class)));
        shop.executeWithoutResult(status -> {
            jdbc().update("create table never_there_either ()");
            archive.executeWithoutResult(inner -> writeAfterCommit("undone"));
            status.setRollbackOnly();
        });
        shop.executeWithoutResult(status -> archive.executeWithoutResult(inner -> writeAfterCommit("done")));

        eventually().untilAsserted(() -> assertThat(handled()).containsExactly("done"));
        assertThat(jdbc().queryForObject("select to_regclass('never_there_either')", String.class))
                .isNull();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class})
    @Import(Databases.class)
    static class Several {}

    @Test
    void theDatabasesOfAFleetAreNoException() {
        started = Contexts.start(Several.class, "windlass.stores.north.data-source=shop");
        Outbox north = context()
                .<Router<Outbox>>getBeanProvider(ResolvableType.forClassWithGenerics(Router.class, Outbox.class))
                .getObject()
                .get("north");
        TransactionTemplate shop = new TransactionTemplate(Manager.NO_BEAN.of(context()));
        for (String message : List.of("undone", "done")) {
            shop.executeWithoutResult(status -> {
                archive().executeWithoutResult(inner -> writeAfterCompletion(north, message));
                if (message.equals("undone")) {
                    status.setRollbackOnly();
                }
            });
        }

        eventually().untilAsserted(() -> assertThat(handled()).containsExactly("done"));
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    private static void writeAfterCompletion(Outbox outbox, String payload) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                write(outbox, payload);
            }
        });
    }
}
