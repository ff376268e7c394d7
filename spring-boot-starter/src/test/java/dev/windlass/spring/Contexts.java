package dev.windlass.spring;

import dev.windlass.embedded.EmbeddedPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** Real applications on a real database, each with a schema of its own. */
final class Contexts {
    private static final AtomicInteger schemas = new AtomicInteger();

    private Contexts() {}

    static String newSchema() {
        return "spring_" + schemas.incrementAndGet();
    }

    /** Starts an application with Windlass in a new schema. */
    static ConfigurableApplicationContext start(Class<?> application, String... properties) {
        return startAll(List.of(application), properties);
    }

    static ConfigurableApplicationContext startAll(List<Class<?>> classes, String... properties) {
        List<String> all = new ArrayList<>(List.of("windlass.schema=" + newSchema(), "windlass.ensure-schema=true"));
        all.addAll(Arrays.asList(properties));
        return startWith(classes, all.toArray(new String[0]));
    }

    static ConfigurableApplicationContext startWith(Class<?> application, String... properties) {
        return startWith(List.of(application), properties);
    }

    private static ConfigurableApplicationContext startWith(List<Class<?>> classes, String... properties) {
        return new SpringApplicationBuilder(classes.toArray(new Class<?>[0]))
                .web(WebApplicationType.NONE)
                .run(arguments(properties));
    }

    static String[] arguments(String... properties) {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.datasource.url=" + server.jdbcUrl(),
                "--spring.datasource.username=" + server.user(),
                "--spring.datasource.password=" + server.password(),
                "--spring.datasource.hikari.maximum-pool-size=8",
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN"));
        Arrays.stream(properties).map(each -> "--" + each).forEach(arguments::add);
        return arguments.toArray(new String[0]);
    }

    static long count(ConfigurableApplicationContext context, String table) {
        String schema = context.getEnvironment().getProperty("windlass.schema");
        Long count = context.getBean(JdbcTemplate.class)
                .queryForObject("select count(*) from " + schema + "." + table, Long.class);
        return count == null ? 0 : count;
    }

    static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(25));
    }
}
