package dev.windlass.example.orders;

import dev.windlass.base.Topic;
import java.util.UUID;

/** A message of the inbox: what the bank tells, perhaps more than once. */
record PaymentReceived(UUID order, int cents) {
    static final String NAME = "payment.received";
    static final Topic<PaymentReceived> TOPIC = Topic.of(NAME, PaymentReceived.class);
}
