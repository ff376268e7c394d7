package dev.windlass.example.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.WindlassException;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Timers;
import dev.windlass.spring.test.EmbeddedWindlass;
import dev.windlass.testkit.Workbench;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.transaction.support.TransactionTemplate;

// tag::test
@SpringBootTest
@ActiveProfiles("dev")
@EmbeddedWindlass
final class OrderServiceTest {
    @Autowired
    OrderService service;

    @Autowired
    Mails mails;

    @Autowired
    Workbench workbench;

    @Test
    void anOrderIsConfirmedByMailAndTheCustomerIsRemindedLater() {
        Order order = service.place("ada@example.org", "a lamp", 4200);
        workbench.drain();
        assertThat(mails.about(order.id())).containsExactly("Thank you for your order: a lamp");

        workbench.advance(Duration.ofDays(8));
        workbench.drain();
        assertThat(mails.about(order.id())).contains("Please pay for your order");
    }
    // end::test

    @Autowired
    Outbox outbox;

    @Autowired
    Timers timers;

    @Autowired
    TransactionTemplate transaction;

    @Autowired
    JdbcClient jdbc;

    @Test
    void nothingIsLeftOfAnOrderThatWasRolledBack() {
        Order undone = transaction.execute(status -> {
            Order order = service.place("bob@example.org", "a boat", 1);
            status.setRollbackOnly();
            return order;
        });

        assertThat(undone).isNotNull();
        String id = undone.id().toString();
        assertThat(jdbc.sql("select count(*) from orders where customer = 'bob@example.org'")
                        .query(Long.class)
                        .single())
                .isZero();
        assertThat(workbench.payloads(OrderPlaced.NAME)).noneMatch(payload -> payload.contains(id));
        assertThat(timers.find(OrderUnpaid.NAME, id)).isEmpty();
    }

    @Test
    void aMessageOutsideOfATransactionIsRefused() {
        assertThatThrownBy(() -> outbox.enqueue(OutboxEntry.of(OrderPlaced.NAME, "{}")))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("this thread is in none");
    }
}
