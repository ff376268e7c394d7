package dev.windlass.internal.inbox;

import dev.windlass.base.HandlerOptions;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.internal.dispatch.Handlers;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.support.Require;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Internal: the handlers of one inbox, by topic. Programs use {@link dev.windlass.WindlassBuilder}. */
public final class InboxHandlers {
    /** Each made of the transactions that it may need. */
    private final Handlers<Function<HandlerTransactions, Handling.Handler<Delivery>>> handlers =
            new Handlers<>("inbox handler");

    public void add(String topic, InboxHandler handler, @Nullable HandlerOptions options) {
        Require.present("handler", handler);
        handlers.add(topic, unused -> (delivery, running) -> handler.handle(delivery.message(), running), options);
    }

    public void addInTransaction(String topic, InboxHandler.InTransaction handler, @Nullable HandlerOptions options) {
        Require.present("handler", handler);
        addTogether(topic, 1, (connection, messages) -> handler.handle(connection, messages.get(0)), options);
    }

    /**
     * Adds one whose transactions have several messages.
     *
     * @param most how many, at most
     */
    public void addTogether(
            String topic, int most, InboxHandler.TogetherInTransaction handler, @Nullable HandlerOptions options) {
        Require.present("handler", handler);
        Require.positive("number of messages in a transaction", most);
        handlers.add(topic, transactions -> transactions.handler(most, handler), options);
    }

    public boolean isEmpty() {
        return handlers.isEmpty();
    }

    Map<String, Handling<Delivery>> handlings(HandlerOptions defaults, HandlerTransactions transactions) {
        return handlers.handlings(defaults, handler -> handler.apply(transactions));
    }
}
