package dev.windlass.example.orders;

import dev.windlass.inbox.Inbox;
import dev.windlass.spring.OnInbox;
import java.util.Objects;
import java.util.UUID;
import org.springframework.http.HttpStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** What the bank tells. It tells it again until we have answered, so the same message may come twice, also at once. */
@RestController
class Payments {
    private final Inbox inbox;
    private final OrderService orders;

    Payments(Inbox inbox, OrderService orders) {
        this.inbox = inbox;
        this.orders = orders;
    }

    /** One without an id or an order is answered with 400. */
    record BankMessage(String messageId, UUID order, int cents) {
        BankMessage {
            Objects.requireNonNull(messageId, "messageId");
            Objects.requireNonNull(order, "order");
        }
    }

    record Received(boolean isNew) {}

    // tag::receive
    @PostMapping("/payments")
    @ResponseStatus(HttpStatus.ACCEPTED)
    @Transactional
    Received receive(@RequestBody BankMessage told) {
        PaymentReceived payment = new PaymentReceived(told.order, told.cents);
        return new Received(inbox.enqueue(inbox.entry("bank", told.messageId, PaymentReceived.TOPIC, payment))
                .isNew());
    }
    // end::receive

    // tag::process
    /** In one transaction with the end of the message: what it changes is changed once. */
    @OnInbox(value = PaymentReceived.NAME, inTransaction = true)
    void process(PaymentReceived payment) {
        orders.pay(payment.order(), payment.cents());
    }
    // end::process
}
