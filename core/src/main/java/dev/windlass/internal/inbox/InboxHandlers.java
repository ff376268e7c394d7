package dev.windlass.internal.inbox;

import dev.windlass.base.HandlerOptions;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.internal.dispatch.Handlers;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.dispatch.Running;
import dev.windlass.internal.support.Require;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Internal: the handlers of one inbox, by topic. Programs use {@link dev.windlass.WindlassBuilder}. */
public final class InboxHandlers {
    private final Handlers<Step> handlers = new Handlers<>("inbox handler");

    @FunctionalInterface
    private interface Step {
        void run(Delivery delivery, Running running, HandlerTransactions transactions) throws Exception;
    }

    public void add(String topic, InboxHandler handler, @Nullable HandlerOptions options) {
        Require.present("handler", handler);
        handlers.add(topic, (delivery, running, unused) -> handler.handle(delivery.message(), running), options);
    }

    public void addInTransaction(String topic, InboxHandler.InTransaction handler, @Nullable HandlerOptions options) {
        Require.present("handler", handler);
        handlers.add(topic, (delivery, running, transactions) -> transactions.run(handler, delivery, running), options);
    }

    public boolean isEmpty() {
        return handlers.isEmpty();
    }

    Map<String, Handling<Delivery>> handlings(HandlerOptions defaults, HandlerTransactions transactions) {
        return handlers.handlings(defaults, step -> (delivery, running) -> step.run(delivery, running, transactions));
    }
}
