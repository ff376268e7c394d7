package dev.windlass.example.first;

import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.spring.OnOutbox;
import dev.windlass.store.Router;
import dev.windlass.store.Store;

/** A database for each tenant; the docs quote it. */
class Tenants {
    // tag::tenants
    private final Router<Outbox> outboxes;

    Tenants(Router<Outbox> outboxes) {
        this.outboxes = outboxes;
    }

    void welcome(String tenant, String customer) {
        outboxes.get(tenant).enqueue(OutboxEntry.of("customer.new", customer));
    }

    @OnOutbox("customer.new")
    void send(String customer, Store tenant) {
        System.out.println("welcome to " + tenant.id() + ", " + customer);
    }
    // end::tenants
}
