package dev.windlass.spring;

import dev.windlass.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A database that a test has for itself: for what makes schemas with fixed names.
 *
 * @param server that it is on
 * @param name of it
 */
record OwnDatabase(EmbeddedPostgres server, String name) {
    private static final AtomicInteger made = new AtomicInteger();

    static OwnDatabase create() throws SQLException {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        String name = "own_" + made.incrementAndGet();
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create database " + name);
        }
        return new OwnDatabase(server, name);
    }

    /** An application on it, with Windlass in the schema {@code windlass}. */
    ConfigurableApplicationContext start(Class<?> application, String... properties) {
        return builder(application).run(arguments(properties));
    }

    static SpringApplicationBuilder builder(Class<?> application) {
        return new SpringApplicationBuilder(application).web(WebApplicationType.NONE);
    }

    String[] arguments(String... properties) {
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.datasource.url=" + server.jdbcUrl(name),
                "--spring.datasource.username=" + server.user(),
                "--spring.datasource.password=" + server.password(),
                "--spring.datasource.hikari.maximum-pool-size=6",
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN"));
        Arrays.stream(properties).map(each -> "--" + each).forEach(arguments::add);
        return arguments.toArray(new String[0]);
    }
}
