package dev.windlass.example.orders;

import java.util.List;
import java.util.UUID;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
final class OrderController {
    private final OrderService service;
    private final OrderRepository orders;
    private final Mails mails;

    OrderController(OrderService service, OrderRepository orders, Mails mails) {
        this.service = service;
        this.orders = orders;
        this.mails = mails;
    }

    record NewOrder(String customer, String item, int cents) {}

    record ShownOrder(UUID id, String customer, String item, int cents, boolean paid) {
        static ShownOrder of(Order order) {
            return new ShownOrder(order.id(), order.customer(), order.item(), order.cents(), order.isPaid());
        }
    }

    @PostMapping("/orders")
    @ResponseStatus(HttpStatus.CREATED)
    ShownOrder place(@RequestBody NewOrder order) {
        return ShownOrder.of(service.place(order.customer, order.item, order.cents));
    }

    @GetMapping("/orders/{id}")
    ShownOrder show(@PathVariable UUID id) {
        return orders.findById(id)
                .map(ShownOrder::of)
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "there is no order " + id));
    }

    @GetMapping("/orders/{id}/mails")
    List<String> mails(@PathVariable UUID id) {
        return mails.about(id);
    }
}
