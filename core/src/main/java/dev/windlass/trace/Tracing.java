package dev.windlass.trace;

import dev.windlass.base.QueueKind;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Called where messages are written and handled. Thread-safe; what it throws is what the caller gets. */
public interface Tracing {

    /** Nothing is traced. */
    Tracing NONE = new Tracing() {
        @Override
        public Map<String, String> written(QueueKind queue, String topic, Map<String, String> headers) {
            return headers;
        }

        @Override
        public void handled(Received received, Work handler) throws Exception {
            handler.run();
        }
    };

    /** A message is about to be written. Returns its headers, with the context of the trace that this thread is in. */
    Map<String, String> written(QueueKind queue, String topic, Map<String, String> headers);

    /** Runs a handler in the trace of its message. */
    void handled(Received received, Work handler) throws Exception;

    /**
     * Runs a handler that was begun for one message, inside of {@link #handled}, and takes others along: each of these has a trace of its own.
     *
     * @param first the one whose trace it runs in
     */
    default void handledTogether(Received first, List<Received> others, Work handler) throws Exception {
        handler.run();
    }

    /** A message that is to be handled. */
    record Received(
            String store,
            QueueKind queue,
            String topic,
            String id,
            int attempt,
            Optional<String> correlationId,
            Map<String, String> headers) {}

    /** What is to be run. */
    @FunctionalInterface
    interface Work {
        void run() throws Exception;
    }
}
