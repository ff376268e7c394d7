package dev.windlass.inbox;

import dev.windlass.Cancellation;
import dev.windlass.HandlerOptions;
import dev.windlass.runtime.Handling;
import dev.windlass.runtime.Require;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Internal: the handlers of one inbox, by topic. Programs use {@link dev.windlass.Windlass.Builder}. */
public final class InboxHandlers {
    private final Map<String, Registration> registrations = new LinkedHashMap<>();

    private record Registration(Step step, @Nullable HandlerOptions options) {}

    @FunctionalInterface
    private interface Step {
        void run(Delivery delivery, Cancellation cancellation, HandlerTransactions transactions) throws Exception;
    }

    public void add(String topic, InboxHandler handler, @Nullable HandlerOptions options) {
        Require.present("handler", handler);
        register(topic, (delivery, cancellation, unused) -> handler.handle(delivery.message(), cancellation), options);
    }

    public void addInTransaction(String topic, InboxHandler.InTransaction handler, @Nullable HandlerOptions options) {
        Require.present("handler", handler);
        register(topic, (delivery, unused, transactions) -> transactions.run(handler, delivery), options);
    }

    private void register(String topic, Step step, @Nullable HandlerOptions options) {
        Require.text("topic", topic, InboxEntry.MAX_TOPIC);
        if (registrations.putIfAbsent(topic, new Registration(step, options)) != null) {
            throw new IllegalArgumentException("expected one inbox handler for topic " + topic + ", got a second");
        }
    }

    Map<String, Handling<Delivery>> handlings(HandlerOptions defaults, HandlerTransactions transactions) {
        Map<String, Handling<Delivery>> handlings = new LinkedHashMap<>();
        registrations.forEach((topic, registration) -> handlings.put(
                topic,
                new Handling<>(
                        (delivery, cancellation) -> registration.step.run(delivery, cancellation, transactions),
                        registration.options == null ? defaults : registration.options)));
        return handlings;
    }
}
