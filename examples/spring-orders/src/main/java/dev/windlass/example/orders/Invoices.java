package dev.windlass.example.orders;

import dev.windlass.base.PermanentFailure;
import dev.windlass.base.WorkStatus;
import dev.windlass.spring.OnWork;
import dev.windlass.work.WorkContext;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkQueue;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Work that takes a while, with its progress and its result. */
@RestController
class Invoices {
    private static final int PAGES = 4;

    private final WorkQueue work;
    private final OrderRepository orders;
    private final OrdersProperties properties;

    Invoices(WorkQueue work, OrderRepository orders, OrdersProperties properties) {
        this.work = work;
        this.orders = orders;
        this.properties = properties;
    }

    record Wanted(UUID invoice) {}

    record State(WorkStatus status, int progress, @Nullable String text) {
        static State of(WorkItem item) {
            return new State(
                    item.status(),
                    item.progress().orElse(0),
                    item.result().or(item::lastError).orElse(null));
        }
    }

    // tag::want
    @PostMapping("/orders/{order}/invoice")
    @ResponseStatus(HttpStatus.ACCEPTED)
    @Transactional
    Wanted want(@PathVariable UUID order) {
        WorkIdentifier id = work.enqueue(work.entry(InvoiceWanted.QUEUE, InvoiceWanted.TOPIC, new InvoiceWanted(order))
                .ifAbsent(order.toString())); // who asks twice gets one invoice
        return new Wanted(id.value());
    }
    // end::want

    // tag::state
    @GetMapping("/invoices/{id}")
    State state(@PathVariable UUID id) {
        return work.find(new WorkIdentifier(id))
                .map(State::of)
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "there is no invoice " + id));
    }
    // end::state

    // tag::work
    @OnWork(queue = InvoiceWanted.QUEUE, type = InvoiceWanted.TYPE)
    String print(InvoiceWanted wanted, WorkContext context) throws InterruptedException {
        Order order = orders.findById(wanted.order())
                .orElseThrow(() -> new PermanentFailure("there is no order " + wanted.order()));
        for (int page = 1; page <= PAGES; page++) {
            context.throwIfCancelled();
            Thread.sleep(properties.pageTakes().toMillis()); // the printer
            context.progress(100 * page / PAGES, "page " + page + " of " + PAGES);
        }
        return "Invoice for " + order.customer() + ": " + order.item() + ", " + order.cents() + " cents";
    }
    // end::work
}
