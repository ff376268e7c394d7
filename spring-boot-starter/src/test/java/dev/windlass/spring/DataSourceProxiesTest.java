package dev.windlass.spring;

import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The data source of an application may be a proxy around its pool. */
final class DataSourceProxiesTest {

    abstract static class Handled {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();

        @OnOutbox("a")
        void handle(String payload) {
            handled.add(payload);
        }
    }

    static HikariDataSource pool(DataSourceProperties properties, Environment environment) {
        HikariDataSource pool = properties
                .initializeDataSourceBuilder()
                .type(HikariDataSource.class)
                .build();
        pool.setMaximumPoolSize(6);
        pool.setAutoCommit(environment.getProperty("auto-commit", Boolean.class, true));
        return pool;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Following extends Handled {
        @Bean
        DataSource dataSource(DataSourceProperties properties, Environment environment) {
            return new TransactionAwareDataSourceProxy(pool(properties, environment));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class LazyOne extends Handled {
        @Bean
        DataSource dataSource(DataSourceProperties properties, Environment environment) {
            return new LazyConnectionDataSourceProxy(pool(properties, environment));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class LazyAndFollowing extends Handled {
        @Bean
        DataSource dataSource(DataSourceProperties properties, Environment environment) {
            return new TransactionAwareDataSourceProxy(
                    new LazyConnectionDataSourceProxy(pool(properties, environment)));
        }
    }

    private static final String WITHOUT_JPA =
            "spring.autoconfigure.exclude=" + HibernateJpaAutoConfiguration.class.getName() + ","
                    + DataJpaRepositoriesAutoConfiguration.class.getName();

    private static void assertThatTransactionsAreJoined(Class<? extends Handled> application, String... properties) {
        try (ConfigurableApplicationContext context = Contexts.start(application, properties)) {
            Outbox outbox = context.getBean(Outbox.class);
            Queue<String> handled = context.getBean(application).handled;
            TransactionTemplate transaction =
                    new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            String table = context.getEnvironment().getProperty("windlass.schema") + ".outbox";

            transaction.executeWithoutResult(status -> {
                outbox.enqueue(OutboxEntry.of("a", "undone"));
                status.setRollbackOnly();
            });
            assertThat(jdbc.queryForObject("select count(*) from " + table, Long.class))
                    .isZero();
            transaction.executeWithoutResult(status -> {
                outbox.enqueue(OutboxEntry.of("a", "joined"));
                // The same connection sees it, before the commit.
                assertThat(jdbc.queryForObject("select count(*) from " + table, Long.class))
                        .isOne();
            });
            outbox.enqueue(OutboxEntry.of("a", "alone"));
            context.getBean(Windlass.class)
                    .inTransaction(connection -> outbox.enqueue(OutboxEntry.of("a", "by Windlass")));

            eventually()
                    .untilAsserted(
                            () -> assertThat(handled).containsExactlyInAnyOrder("joined", "alone", "by Windlass"));
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Following.class, LazyOne.class, LazyAndFollowing.class})
    void transactionsOfJpaAreJoined(Class<? extends Handled> application) {
        assertThatTransactionsAreJoined(application);
    }

    @ParameterizedTest
    @ValueSource(classes = {Following.class, LazyOne.class, LazyAndFollowing.class})
    void transactionsOfJdbcAreJoined(Class<? extends Handled> application) {
        assertThatTransactionsAreJoined(application, WITHOUT_JPA);
    }

    @Test
    void aPoolWithoutAutoCommitMayBeBehindIt() {
        assertThatTransactionsAreJoined(Following.class, WITHOUT_JPA, "auto-commit=false");
    }

    @ParameterizedTest
    @ValueSource(classes = {LazyOne.class, LazyAndFollowing.class})
    void aPoolWithoutAutoCommitMayBeBehindOneThatIsLazy(Class<? extends Handled> application) {
        assertThatTransactionsAreJoined(application, WITHOUT_JPA, "auto-commit=false");
    }
}
