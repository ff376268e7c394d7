package dev.windlass.example.orders;

import dev.windlass.spring.OutboxEvent;
import java.util.UUID;

// tag::event
/** An event of Spring's, which the outbox also takes to other nodes. */
@OutboxEvent(OrderPaid.NAME)
record OrderPaid(UUID order, String customer) {
    static final String NAME = "order.paid";
}
// end::event
