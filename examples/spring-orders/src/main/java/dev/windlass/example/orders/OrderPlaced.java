package dev.windlass.example.orders;

import dev.windlass.base.Topic;
import java.util.UUID;

// tag::topic
/** A message of the outbox: its payload is this record, as JSON. */
record OrderPlaced(UUID order, String customer, String item) {
    static final String NAME = "order.placed"; // for the annotation of its handler
    static final Topic<OrderPlaced> TOPIC = Topic.of(NAME, OrderPlaced.class); // for who writes it
}
// end::topic
