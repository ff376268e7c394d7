package dev.windlass.spring;

import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

/** Windlass comes after the migrations of the application, which may bring its tables, too. */
@ExtendWith(OutputCaptureExtension.class)
final class MigrationsTest {
    private static final Path WINDLASS = Path.of("../sql/postgresql/windlass-1.sql");

    /** It fails if Windlass has been there before. */
    private static final String BUSINESS = "create schema windlass; create table purchase (id bigint primary key);";

    @TempDir
    Path migrations;

    /** Without JPA, which comes after migrations by itself, and Windlass after it. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    static class Shop {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();

        @OnOutbox("purchase.made")
        void handle(String payload) {
            handled.add(payload);
        }
    }

    private String[] withFlyway(String... more) {
        return joined(
                new String[] {"spring.flyway.enabled=true", "spring.flyway.locations=filesystem:" + migrations}, more);
    }

    private String[] withLiquibase(String... more) throws IOException {
        Files.writeString(migrations.resolve("changes.yaml"), """
                databaseChangeLog:
                  - changeSet:
                      id: 1
                      author: shop
                      changes:
                        - sqlFile:
                            path: V1__first.sql
                            relativeToChangelogFile: true
                            splitStatements: false
                """);
        return joined(
                new String[] {
                    "spring.liquibase.enabled=true",
                    "spring.liquibase.change-log=file:" + migrations.resolve("changes.yaml")
                },
                more);
    }

    private static String[] joined(String[] some, String... more) {
        String[] all = Arrays.copyOf(some, some.length + more.length);
        System.arraycopy(more, 0, all, some.length, more.length);
        return all;
    }

    private void migration(String sql) throws IOException {
        Files.writeString(migrations.resolve("V1__first.sql"), sql);
    }

    private static void assertThatItWorks(ConfigurableApplicationContext context) {
        context.getBean(Outbox.class).enqueue(OutboxEntry.of("purchase.made", "7"));
        eventually()
                .untilAsserted(
                        () -> assertThat(context.getBean(Shop.class).handled).containsExactly("7"));
    }

    private static long purchases(ConfigurableApplicationContext context) {
        Long count = context.getBean(JdbcTemplate.class).queryForObject("select count(*) from purchase", Long.class);
        return count == null ? -1 : count;
    }

    @Test
    void windlassMakesItsTablesAfterFlyway() throws Exception {
        migration(BUSINESS);
        try (ConfigurableApplicationContext context =
                OwnDatabase.create().start(Shop.class, withFlyway("windlass.ensure-schema=true"))) {
            assertThat(purchases(context)).isZero();
            assertThatItWorks(context);
        }
    }

    @Test
    void windlassMakesItsTablesAfterLiquibase() throws Exception {
        migration(BUSINESS);
        try (ConfigurableApplicationContext context =
                OwnDatabase.create().start(Shop.class, withLiquibase("windlass.ensure-schema=true"))) {
            assertThat(purchases(context)).isZero();
            assertThatItWorks(context);
        }
    }

    @Test
    void flywayCanRunTheFilesOfWindlass() throws Exception {
        migration(Files.readString(WINDLASS));
        try (ConfigurableApplicationContext context =
                OwnDatabase.create().start(Shop.class, withFlyway("windlass.ensure-schema=false"))) {
            assertThatItWorks(context);
        }
    }

    @Test
    void liquibaseCanRunTheFilesOfWindlass() throws Exception {
        migration(Files.readString(WINDLASS));
        try (ConfigurableApplicationContext context =
                OwnDatabase.create().start(Shop.class, withLiquibase("windlass.ensure-schema=false"))) {
            assertThatItWorks(context);
        }
    }

    @Test
    void withoutTablesTheStartFailsAndTellsWhatToDo(CapturedOutput output) throws Exception {
        migration("create table purchase (id bigint primary key);");
        OwnDatabase database = OwnDatabase.create();

        assertThatThrownBy(() -> database.start(Shop.class, withFlyway())).isInstanceOf(RuntimeException.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START", "windlass migrate", "windlass.ensure-schema=true")
                .contains("schema \"windlass\"");
    }
}
