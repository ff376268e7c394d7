package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.Topic;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Payloads as records, written and read by Jackson, and a handler with a retry policy of its own.
 *
 * <p>The handler decides by what it throws: {@link RetryAfter} names the pause itself, {@link PermanentFailure} ends the
 * message at once, and any other exception is repeated as the policy says, until the attempts are used up.
 */
public final class TypedPayloads {

    // tag::record
    record PaymentRequested(String card, int cents) {}

    static final Topic<PaymentRequested> PAYMENT_REQUESTED = Topic.of("payment.requested", PaymentRequested.class);
    // end::record

    private TypedPayloads() {}

    public static void main(String[] args) throws Exception {
        // tag::handler
        RetryPolicy impatient = RetryPolicy.defaults().withMaxAttempts(3).withBase(Duration.ofMillis(50));
        HandlerOptions options = HandlerOptions.defaults()
                .withConcurrency(4)
                .withTimeout(Duration.ofSeconds(30))
                .withRetry(impatient);

        Windlass windlass = Windlass.on(EmbeddedPostgres.shared().dataSource())
                .ensureSchema()
                .outboxHandler(PAYMENT_REQUESTED, options, TypedPayloads::charge)
                .start();
        // end::handler
        try (windlass) {
            for (OutboxMessageIdentifier id : request(windlass)) {
                report(ended(windlass, id));
            }
        }
    }

    private static List<OutboxMessageIdentifier> request(Windlass windlass) {
        return Stream.of("good", "busy", "stolen", "unreachable")
                .map(card -> new PaymentRequested(card, 1999))
                .map(payment ->
                        payment.card().equals("good") ? enqueueInOrder(windlass, payment) : enqueue(windlass, payment))
                .toList();
    }

    // tag::enqueue
    private static OutboxMessageIdentifier enqueue(Windlass windlass, PaymentRequested payment) {
        return windlass.outbox().enqueue(PAYMENT_REQUESTED, payment);
    }
    // end::enqueue

    // tag::entry
    static OutboxMessageIdentifier enqueueInOrder(Windlass windlass, PaymentRequested payment) {
        return windlass.outbox()
                .enqueue(windlass.outbox().entry(PAYMENT_REQUESTED, payment).withOrderingKey(payment.card()));
    }
    // end::entry

    // tag::charge
    private static void charge(PaymentRequested payment, OutboxMessage message) throws Exception {
        switch (payment.card()) {
            case "busy" -> {
                if (message.retryCount() == 0) {
                    throw new RetryAfter(Duration.ofMillis(200), "the gateway asks for a pause");
                }
            }
            case "stolen" -> throw new PermanentFailure("the card is blocked");
            case "unreachable" -> throw new IOException("no answer");
            default -> {}
        }
    }
    // end::charge

    private static OutboxMessage ended(Windlass windlass, OutboxMessageIdentifier id) throws InterruptedException {
        while (true) {
            OutboxMessage message = windlass.outbox().find(id).orElseThrow();
            if (message.status() == WorkStatus.DONE || message.status() == WorkStatus.FAILED) {
                return message;
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private static void report(OutboxMessage message) {
        System.out.printf(
                "%s: %s after %d retries%s%n",
                message.payload(),
                message.status(),
                message.retryCount(),
                message.lastError().map(error -> ", last error " + error).orElse(""));
    }
}
