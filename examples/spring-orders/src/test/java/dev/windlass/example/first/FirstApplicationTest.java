package dev.windlass.example.first;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.base.PermanentFailure;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.spring.OnOutbox;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The first steps of the docs lead to what the docs say. */
@ExtendWith(OutputCaptureExtension.class)
final class FirstApplicationTest {

    static class Failing {
        @OnOutbox("fails")
        void handle() {
            throw new PermanentFailure("as it should");
        }
    }

    @Test
    void theFirstMessageIsHandledAndBeansSayMore(CapturedOutput output) {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        JdbcClient sql = JdbcClient.create(server.dataSource());
        sql.sql("create database first").update();

        try (ConfigurableApplicationContext context = new SpringApplication(FirstApplication.class, Failing.class)
                .run(
                        "--spring.datasource.url=" + server.jdbcUrl("first"),
                        "--spring.datasource.username=" + server.user(),
                        "--spring.sql.init.mode=always",
                        "--spring.sql.init.schema-locations=classpath:first/schema.sql",
                        "--windlass.ensure-schema=true",
                        // What the example brings and an empty project has not:
                        "--spring.config.name=none",
                        "--spring.flyway.enabled=false",
                        "--server.port=0")) {
            Outbox outbox = context.getBean(Outbox.class);
            outbox.enqueue(OutboxEntry.of("order.archived", "1"));
            outbox.enqueue(OutboxEntry.of("order.shipped", "2"));
            outbox.enqueue(OutboxEntry.of("fails", ""));

            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(output)
                            .contains("sent a mail for a lamp", "archived 1", "shipped 2")
                            .contains("of topic fails has failed for good"));
        }
    }
}
