package dev.windlass;

import dev.windlass.base.PayloadCodec;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.internal.support.Require;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.work.WorkHandler;
import java.util.function.Function;
import java.util.function.Supplier;

/** Makes the handler that a node calls of each form in which users may write one. */
final class HandlerForms {
    private final Supplier<PayloadCodec> codec;
    private boolean decodes;

    /**
     * @param codec asked when a message is handled: it may be given after the handlers
     */
    HandlerForms(Supplier<PayloadCodec> codec) {
        this.codec = codec;
    }

    /** Whether the codec can do what handlers need of it is better known now than with the first message. */
    void check() {
        if (decodes) {
            codec.get().check();
        }
    }

    static OutboxHandler outbox(OutboxHandler.Simple handler) {
        Require.present("handler", handler);
        return (message, cancellation) -> handler.handle(message);
    }

    static InboxHandler inbox(InboxHandler.Simple handler) {
        Require.present("handler", handler);
        return (message, cancellation) -> handler.handle(message);
    }

    static WorkHandler work(WorkHandler.Simple handler) {
        Require.present("handler", handler);
        return (item, context) -> handler.handle(item);
    }

    <T> OutboxHandler outbox(Class<T> type, OutboxHandler.Typed<T> handler) {
        Function<String, T> decode = decoding(type, handler);
        return (message, cancellation) -> handler.handle(decode.apply(message.payload()), message);
    }

    <T> InboxHandler inbox(Class<T> type, InboxHandler.Typed<T> handler) {
        Function<String, T> decode = decoding(type, handler);
        return (message, cancellation) -> handler.handle(decode.apply(message.payload()), message);
    }

    <T> InboxHandler.InTransaction inTransaction(Class<T> type, InboxHandler.TypedInTransaction<T> handler) {
        Function<String, T> decode = decoding(type, handler);
        return (connection, message) -> handler.handle(connection, decode.apply(message.payload()), message);
    }

    <T> WorkHandler work(Class<T> type, WorkHandler.Typed<T> handler) {
        Function<String, T> decode = decoding(type, handler);
        return (item, context) -> handler.handle(decode.apply(item.payload()), item, context);
    }

    private <T> Function<String, T> decoding(Class<T> type, Object handler) {
        Require.present("payload type", type);
        Require.present("handler", handler);
        decodes = true;
        return payload -> codec.get().decode(payload, type);
    }
}
