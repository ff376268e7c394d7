package dev.windlass.example.orders;

import dev.windlass.embedded.EmbeddedPostgres;
import org.springframework.boot.SpringApplication;

/** The application on a PostgreSQL of its own, which is gone when it ends: {@code mvn spring-boot:test-run}. */
final class TestOrdersApplication {
    private TestOrdersApplication() {}

    public static void main(String[] args) {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        System.setProperty("spring.profiles.active", "dev");
        System.setProperty("spring.datasource.url", server.jdbcUrl());
        System.setProperty("spring.datasource.username", server.user());
        System.setProperty("spring.datasource.password", server.password());
        SpringApplication.from(OrdersApplication::main).run(args);
    }
}
