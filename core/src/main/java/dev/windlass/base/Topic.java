package dev.windlass.base;

import dev.windlass.internal.support.Require;

/**
 * A topic whose payloads are of one type, so that those who write and those who handle agree at compile time.
 *
 * <pre>{@code
 * static final Topic<OrderPlaced> ORDER_PLACED = Topic.of("order.placed", OrderPlaced.class);
 *
 * Windlass.on(dataSource).outboxHandler(ORDER_PLACED, (order, message) -> invoice(order))...
 * outbox.enqueue(connection, ORDER_PLACED, new OrderPlaced("anna", 4200));
 * }</pre>
 *
 * @param name what handlers are chosen by; up to 255 characters
 * @param type what payloads are encoded from and decoded to
 */
public record Topic<T>(String name, Class<T> type) {

    public Topic {
        Require.name("topic", name, 255);
        Require.present("payload type", type);
    }

    public static <T> Topic<T> of(String name, Class<T> type) {
        return new Topic<>(name, type);
    }
}
