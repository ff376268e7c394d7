package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import org.junit.jupiter.api.Test;

final class OrdersTest {

    @Test
    void theCommittedOrderIsInvoicedAndTheRefusedOneLeavesNothing() throws Exception {
        assertThat(Run.example(Orders::main))
                .containsExactlyInAnyOrder(
                        "refused the order of Bob, so there is no message of it either", "invoiced Ada");
        assertThat(Run.text("select string_agg(customer, ',') from orders")).isEqualTo("Ada");
        assertThat(Run.text("select string_agg(customer, ',') from invoices")).isEqualTo("Ada");
        assertThat(Run.text("select string_agg(payload || status, ',') from windlass.outbox"))
                .isEqualTo("Ada2");
    }

    @Test
    void aMessageThatComesTwiceIsInvoicedOnce() throws Exception {
        Run.example(Orders::main);
        Orders.Invoices invoices = new Orders.Invoices(EmbeddedPostgres.shared().dataSource());
        try (Windlass windlass =
                Windlass.on(EmbeddedPostgres.shared().dataSource()).start()) {
            OutboxMessage message = windlass.outbox()
                    .find(windlass.outbox().enqueue(OutboxEntry.of("order.placed", "Cleo")))
                    .orElseThrow();
            invoices.write(message);
            invoices.write(message);
        }
        assertThat(Run.text("select count(*) from invoices where customer = 'Cleo'"))
                .isEqualTo("1");
    }
}
