// tag::first
package dev.windlass.example.first;

import dev.windlass.outbox.Outbox;
import dev.windlass.spring.OnOutbox;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@SpringBootApplication
public class FirstApplication {
    public static void main(String[] args) {
        SpringApplication.run(FirstApplication.class, args);
    }

    @Bean
    ApplicationRunner firstOrder(Shop shop) {
        return arguments -> shop.place("a lamp");
    }
}

record OrderPlaced(String item) {}

@Service
class Shop {
    private final JdbcClient jdbc;
    private final Outbox outbox;

    Shop(JdbcClient jdbc, Outbox outbox) {
        this.jdbc = jdbc;
        this.outbox = outbox;
    }

    // tag::shop
    @Transactional
    public void place(String item) {
        jdbc.sql("insert into orders (item) values (?)").param(item).update();
        outbox.enqueue(outbox.entry("order.placed", new OrderPlaced(item)));
    }

    @OnOutbox("order.placed")
    public void send(OrderPlaced order) {
        System.out.println("sent a mail for " + order.item());
    }
    // end::shop
}
// end::first
