package dev.windlass.example.orders;

import dev.windlass.base.PermanentFailure;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Timers;
import java.util.UUID;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The business: what is written here is committed together, or not at all. */
@Service
class OrderService {
    private final OrderRepository orders;
    private final Outbox outbox;
    private final Timers timers;
    private final ApplicationEventPublisher events;
    private final OrdersProperties properties;

    OrderService(
            OrderRepository orders,
            Outbox outbox,
            Timers timers,
            ApplicationEventPublisher events,
            OrdersProperties properties) {
        this.orders = orders;
        this.outbox = outbox;
        this.timers = timers;
        this.events = events;
        this.properties = properties;
    }

    // tag::place
    @Transactional
    Order place(String customer, String item, int cents) {
        Order order = orders.save(new Order(customer, item, cents));
        outbox.enqueue(OrderPlaced.TOPIC, new OrderPlaced(order.id(), customer, item));
        remindLater(order);
        return order;
    }
    // end::place

    // tag::timer
    private void remindLater(Order order) {
        OrderUnpaid reminder = new OrderUnpaid(order.id(), order.customer());
        timers.schedule(timers.entry(OrderUnpaid.TOPIC, reminder, properties.remindAfter())
                .replacing(order.id().toString()));
    }
    // end::timer

    // tag::pay
    @Transactional
    void pay(UUID id, int cents) {
        Order order = orders.findById(id).orElseThrow(() -> new PermanentFailure("there is no order " + id));
        if (cents != order.cents()) {
            throw new PermanentFailure(
                    "expected " + order.cents() + " cents for order " + id + ", got " + cents + "; ask the bank");
        }
        order.pay();
        timers.cancel(OrderUnpaid.NAME, id.toString());
        events.publishEvent(new OrderPaid(id, order.customer()));
    }
    // end::pay
}
