package dev.windlass.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Timers;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.Router;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import dev.windlass.store.StoreSelection;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.ResolvableType;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** An application over several databases. */
@ExtendWith(OutputCaptureExtension.class)
final class FleetTest {
    private static final Set<String> handled = ConcurrentHashMap.newKeySet();

    @BeforeAll
    static void databases() throws SQLException {
        for (String name : List.of("spring_north", "spring_south", "spring_east")) {
            try (Connection connection = EmbeddedPostgres.shared().dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("create database " + name);
            }
        }
    }

    @BeforeEach
    void clear() {
        handled.clear();
    }

    private static String url(String database) {
        return EmbeddedPostgres.shared().jdbcUrl().replaceFirst("/[^/]*$", "/" + database);
    }

    private static HikariDataSource pool(String database) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url(database));
        pool.setUsername(EmbeddedPostgres.shared().user());
        pool.setPassword(EmbeddedPostgres.shared().password());
        pool.setMaximumPoolSize(5);
        return pool;
    }

    private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
        return Contexts.start(application, properties);
    }

    private static String[] byUrl(String... names) {
        return Arrays.stream(names)
                .flatMap(name -> Stream.of(
                        "windlass.stores." + name + ".url=" + url("spring_" + name),
                        "windlass.stores." + name + ".username="
                                + EmbeddedPostgres.shared().user(),
                        "windlass.stores." + name + ".password="
                                + EmbeddedPostgres.shared().password()))
                .toArray(String[]::new);
    }

    private static Router<Outbox> outboxes(ConfigurableApplicationContext context) {
        return context.<Router<Outbox>>getBeanProvider(ResolvableType.forClassWithGenerics(Router.class, Outbox.class))
                .getObject();
    }

    static class Handlers {
        @OnOutbox("a")
        void handle(String payload, Store store) {
            handled.add(store.id() + " " + payload);
        }

        @UnderLease("report")
        public void report() {
            handled.add("report");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Handlers.class)
    static class ByProperties {}

    @Test
    void databasesOfPropertiesHaveRoutersAndTheirHandlersKnowThem() {
        try (ConfigurableApplicationContext context = start(ByProperties.class, byUrl("north", "south"))) {
            assertThat(context.getBeansOfType(Windlass.class)).isEmpty();
            outboxes(context).get("north").enqueue(OutboxEntry.of("a", "1"));
            outboxes(context).get("south").enqueue(OutboxEntry.of("a", "2"));
            Contexts.eventually().until(() -> handled.size() == 2);
            assertThat(handled).containsExactlyInAnyOrder("north 1", "south 2");
            assertThat(context.getBeanProvider(ResolvableType.forClassWithGenerics(Router.class, Timers.class))
                            .getObject())
                    .isNotNull();
        }
    }

    @Test
    void aContextWithAFleetCanBeStoppedAndStarted() {
        try (ConfigurableApplicationContext context = start(ByProperties.class, byUrl("north"))) {
            context.stop();
            context.start();
            outboxes(context).get("north").enqueue(OutboxEntry.of("a", "again"));
            Contexts.eventually().until(() -> handled.contains("north again"));
        }
    }

    @Test
    void whatNeedsOneDatabaseIsNotDoneInAnyOfSeveral() {
        try (ConfigurableApplicationContext context = start(ByProperties.class, byUrl("north"))) {
            Handlers handlers = context.getBean(Handlers.class);
            assertThatThrownBy(handlers::report)
                    .hasMessageContaining("@UnderLease")
                    .hasMessageContaining("Router<Leases>");
            assertThat(handled).isEmpty();
            assertThat(context.getBeanProvider(ResolvableType.forClassWithGenerics(Router.class, Leases.class))
                            .getObject())
                    .isNotNull();
        }
    }

    @Configuration
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    @Import(Handlers.class)
    static class ByBeans {
        @Bean
        DataSource northPool() {
            return withoutAutoCommit("spring_north");
        }

        @Bean
        @Primary
        DataSource north() {
            return new LazyConnectionDataSourceProxy(northPool());
        }

        @Bean
        DataSource southPool() {
            return withoutAutoCommit("spring_south");
        }

        @Bean
        DataSource south() {
            return new LazyConnectionDataSourceProxy(southPool());
        }

        private static DataSource withoutAutoCommit(String database) {
            HikariDataSource pool = pool(database);
            pool.setAutoCommit(false);
            return pool;
        }

        @Bean
        PlatformTransactionManager northTransactions(DataSource north) {
            return new JdbcTransactionManager(north);
        }

        @Bean
        PlatformTransactionManager southTransactions(@Qualifier("south") DataSource south) {
            return new JdbcTransactionManager(south);
        }

        @Bean
        Store southStore(@Qualifier("south") DataSource south) {
            return Store.of("south", south).withSchema("of_the_south");
        }

        @Bean
        FleetCustomizer byFirstLetter() {
            return fleet -> fleet.routing(key -> key.startsWith("s") ? "south" : "north")
                    .options(its -> {
                        assertThat(its.parallelism()).isEqualTo(3);
                        return its.withSelection(StoreSelection.drainFirst());
                    });
        }
    }

    @Test
    void eachDatabaseJoinsTheTransactionsOfItsOwnManager() {
        try (ConfigurableApplicationContext context =
                start(ByBeans.class, "windlass.stores.north.data-source=north", "windlass.fleet.parallelism=3")) {
            TransactionTemplate inSouth =
                    new TransactionTemplate(context.getBean("southTransactions", PlatformTransactionManager.class));
            inSouth.executeWithoutResult(status -> {
                outboxes(context).get("s-1").enqueue(OutboxEntry.of("a", "rolled back"));
                outboxes(context).get("n-1").enqueue(OutboxEntry.of("a", "elsewhere"));
                status.setRollbackOnly();
            });
            inSouth.executeWithoutResult(
                    status -> outboxes(context).get("s-1").enqueue(OutboxEntry.of("a", "committed")));
            Contexts.eventually().until(() -> handled.size() == 2);
            assertThat(handled).containsExactlyInAnyOrder("north elsewhere", "south committed");

            Fleet fleet = context.getBean(Fleet.class);
            fleet.at("south")
                    .inTransaction(
                            connection -> outboxes(context).get("s-2").enqueue(OutboxEntry.of("a", "by Windlass")));
            Contexts.eventually().until(() -> handled.contains("south by Windlass"));
        }
    }

    /** As those of brokers. */
    static final class Silent implements PlatformTransactionManager {
        @Override
        public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void commit(TransactionStatus status) {}

        @Override
        public void rollback(TransactionStatus status) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    @Import(Handlers.class)
    static class WithABroker {
        @Bean
        PlatformTransactionManager broker() {
            return new Silent();
        }
    }

    @Test
    void aManagerThatTellsNoDataSourceIsTakenForNoStore(CapturedOutput output) {
        String[] properties = Stream.concat(
                        Stream.of(byUrl("north", "south")),
                        Stream.of("logging.level.dev.windlass.spring.TransactionManagers=WARN"))
                .toArray(String[]::new);
        try (ConfigurableApplicationContext context = start(WithABroker.class, properties)) {
            context.getBean(Fleet.class)
                    .at("south")
                    .inTransaction(
                            connection -> outboxes(context).get("south").enqueue(OutboxEntry.of("a", "by Windlass")));
            Contexts.eventually().until(() -> handled.contains("south by Windlass"));
            assertThat(context.getBean(Fleet.class).store("north")).isPresent();
        }
        assertThat(output.toString().split("do not tell their data source", -1))
                .as("said once")
                .hasSize(2);
        assertThatThrownBy(() -> start(
                        WithABroker.class,
                        "windlass.stores.north.data-source=dataSource",
                        "windlass.transaction-manager=broker"))
                .hasStackTraceContaining(
                        "property windlass.transaction-manager: expected a transaction manager that tells"
                                + " which of several data sources it is for");
    }

    private static final List<String> tenants = new CopyOnWriteArrayList<>();

    private static List<String> discovered() {
        if (tenants.contains("nobody knows")) {
            throw new IllegalStateException("the directory is away");
        }
        return tenants;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Handlers.class)
    static class Discovering {
        /** Such as an application with many of them has. */
        @Bean
        SharedConnections ofTenants() {
            return SharedConnections.atMost(7);
        }

        @Bean
        DatabaseDiscovery tenants() {
            return () -> discovered().stream()
                    .map(name -> Store.opening(name, url("spring_" + name), () -> pool("spring_" + name)))
                    .toList();
        }
    }

    @Test
    void databasesThatAreDiscoveredComeBesideThoseThatAreListed() {
        tenants.clear();
        try (ConfigurableApplicationContext context = start(Discovering.class, byUrl("north"))) {
            Fleet fleet = context.getBean(Fleet.class);
            assertThat(fleet.stores()).hasSize(1);
            tenants.add("east");
            fleet.refresh();
            outboxes(context).get("east").enqueue(OutboxEntry.of("a", "new"));
            Contexts.eventually().until(() -> handled.contains("east new"));
        }
    }

    @Test
    void databasesThatAreListedDoNotWaitForADiscoveryThatFails() {
        tenants.clear();
        tenants.add("nobody knows");
        try (ConfigurableApplicationContext context = start(Discovering.class, byUrl("north"))) {
            outboxes(context).get("north").enqueue(OutboxEntry.of("a", "listed"));
            Contexts.eventually().until(() -> handled.contains("north listed"));
            tenants.clear();
            tenants.add("east");
            outboxes(context).get("east").enqueue(OutboxEntry.of("a", "found"));
            Contexts.eventually().until(() -> handled.contains("east found"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TwiceNorth {
        @Bean
        DataSource north() {
            return pool("spring_north");
        }

        @Bean
        Store second(DataSource north) {
            return Store.of("second", new LazyConnectionDataSourceProxy(north)).withSchema("other");
        }
    }

    @Test
    void twoStoresWithTheSameTablesAreRefused() {
        assertThatThrownBy(() -> start(
                        ByProperties.class,
                        "windlass.stores.first.url=" + url("spring_north"),
                        "windlass.stores.second.url=" + url("spring_north"),
                        "windlass.stores.second.username=somebody"))
                .hasStackTraceContaining("property windlass.stores: expected tables of its own for each store")
                .hasStackTraceContaining("give one of them another, by its property schema or by Store.withSchema");
        assertThatThrownBy(() -> Contexts.startWith(
                        ByProperties.class,
                        "windlass.stores.first.url=" + url("spring_north"),
                        "windlass.stores.second.url=" + url("spring_north"),
                        "windlass.stores.second.schema=windlass"))
                .hasStackTraceContaining("got schema \"windlass\" of one database");
        assertThatThrownBy(() -> start(
                        TwiceNorth.class,
                        "windlass.stores.first.data-source=north",
                        "windlass.stores.first.schema=other"))
                .hasStackTraceContaining("got schema \"other\" of one database for first and second");

        start(TwiceNorth.class, "windlass.stores.first.data-source=north").close();
    }

    static class Bad {
        @OnOutbox("a")
        void handle(dev.windlass.inbox.InboxMessage message) {}
    }

    @Test
    void whatCannotBeFailsTheStartAlsoWithSeveralDatabases() {
        assertThatThrownBy(() -> Contexts.startAll(List.of(ByProperties.class, Bad.class), byUrl("north")))
                .hasStackTraceContaining("Bad.handle takes InboxMessage, which it is not given");
        assertThatThrownBy(() -> start(ByProperties.class, "windlass.stores.north.data-source=nobody"))
                .hasStackTraceContaining("windlass.stores.north.data-source")
                .hasStackTraceContaining("expected the name of a bean that is a DataSource");
        assertThatThrownBy(() -> start(ByProperties.class, "windlass.stores.north.schema=x"))
                .hasStackTraceContaining("either data-source, the name of a bean, or url");
        assertThatThrownBy(() -> start(
                        ByProperties.class,
                        "windlass.fleet.concurrency=0",
                        "windlass.stores.north.url=" + url("spring_north")))
                .hasStackTraceContaining("property windlass.fleet.concurrency");
    }
}
