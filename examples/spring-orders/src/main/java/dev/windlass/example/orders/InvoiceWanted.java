package dev.windlass.example.orders;

import dev.windlass.base.Topic;
import java.util.UUID;

/** An item of the work queue. */
record InvoiceWanted(UUID order) {
    static final String QUEUE = "invoices";
    static final String TYPE = "print";
    static final Topic<InvoiceWanted> TOPIC = Topic.of(TYPE, InvoiceWanted.class);
}
