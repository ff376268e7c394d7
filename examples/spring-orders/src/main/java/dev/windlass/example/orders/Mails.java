package dev.windlass.example.orders;

import dev.windlass.outbox.OutboxMessage;
import dev.windlass.spring.Handling;
import dev.windlass.spring.OnOutbox;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Handles what follows from an order: here a table stands for the mail server. */
@Component
class Mails {
    private static final Logger log = LoggerFactory.getLogger(Mails.class);

    private final JdbcClient jdbc;

    Mails(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    // tag::handler
    @OnOutbox(OrderPlaced.NAME)
    void placed(OrderPlaced order, OutboxMessage message) {
        send(message, order.order(), order.customer(), "Thank you for your order: " + order.item());
    }
    // end::handler

    // tag::handling
    @OnOutbox(
            value = OrderUnpaid.NAME,
            handling =
                    @Handling(
                            maxAttempts = 5,
                            retryAfter = "10s",
                            timeout = "${orders.mail-timeout:30s}",
                            concurrency = 2))
    void unpaid(OrderUnpaid order, OutboxMessage message) {
        send(message, order.order(), order.customer(), "Please pay for your order");
    }
    // end::handling

    @OnOutbox(OrderPaid.NAME)
    void paid(OrderPaid order, OutboxMessage message) {
        send(message, order.order(), order.customer(), "We have received your payment");
    }

    // tag::idempotent
    /** A message may come again after a crash. Its id is the same then, so the mail is sent once. */
    private void send(OutboxMessage message, UUID order, String to, String text) {
        int sent = jdbc.sql("insert into mails (id, about, recipient, text) values (?, ?, ?, ?) on conflict do nothing")
                .params(message.messageId().value(), order, to, text)
                .update();
        log.info("{} for order {}: {}", message.topic(), order, sent == 1 ? "sent" : "was sent before");
    }
    // end::idempotent

    List<String> about(UUID order) {
        return jdbc.sql("select text from mails where about = ? order by sent_at, id")
                .param(order)
                .query(String.class)
                .list();
    }

    int deleteOlderThan(Duration age) {
        return jdbc.sql("delete from mails where sent_at < now() - make_interval(secs => ?)")
                .param(age.toSeconds())
                .update();
    }
}
