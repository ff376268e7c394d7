package dev.windlass.example.orders;

import dev.windlass.base.Topic;
import java.util.UUID;

/** What a timer brings when an order has not been paid in time. */
record OrderUnpaid(UUID order, String customer) {
    static final String NAME = "order.unpaid";
    static final Topic<OrderUnpaid> TOPIC = Topic.of(NAME, OrderUnpaid.class);
}
