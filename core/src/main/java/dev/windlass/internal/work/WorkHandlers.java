package dev.windlass.internal.work;

import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.dispatch.Handlers;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.dispatch.Running;
import dev.windlass.internal.queue.Note;
import dev.windlass.internal.support.ErrorText;
import dev.windlass.internal.support.Require;
import dev.windlass.work.WorkContext;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkHandler;
import dev.windlass.work.WorkItem;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Internal: the handlers of one work queue, by queue and type. Programs use {@link dev.windlass.WindlassBuilder}. */
public final class WorkHandlers {
    private final Map<String, Handlers<WorkHandler>> queues = new LinkedHashMap<>();

    public void add(String queue, String type, WorkHandler handler, @Nullable HandlerOptions options) {
        Require.name("queue", queue, WorkEntry.MAX_NAME);
        if (options != null && options.circuit() != null) {
            throw new IllegalArgumentException("expected no circuit for type " + type + " of queue " + queue
                    + ": a queue rests as a whole; give the circuit in the handler options of all");
        }
        queues.computeIfAbsent(queue, unused -> new Handlers<>("work handler", "type"))
                .add(type, handler, options);
    }

    public boolean isEmpty() {
        return queues.isEmpty();
    }

    /**
     * One for each queue, which chooses by the type. As many run at once as the smallest number of its types says, and
     * time-outs are looked after as often as the shortest needs.
     */
    Map<String, Handling<WorkItem>> handlings(HandlerOptions defaults) {
        Map<String, Handling<WorkItem>> handlings = new LinkedHashMap<>();
        queues.forEach((queue, handlers) -> {
            Map<String, Handling<WorkItem>> types = handlers.handlings(defaults, WorkHandlers::running);
            int concurrency = types.values().stream()
                    .mapToInt(handling -> handling.options().concurrency())
                    .min()
                    .orElse(defaults.concurrency());
            Duration timeout = types.values().stream()
                    .map(handling -> handling.options().timeout())
                    .min(Duration::compareTo)
                    .orElse(defaults.timeout());
            Handling<WorkItem> unknown = new Handling<>(null, defaults);
            handlings.put(
                    queue,
                    new Handling<>(
                            null,
                            defaults.withConcurrency(concurrency).withTimeout(timeout),
                            item -> types.getOrDefault(item.type(), unknown)));
        });
        return handlings;
    }

    private static Handling.Handler<WorkItem> running(WorkHandler handler) {
        return (item, running) -> handler.handle(item, new Context(running));
    }

    /** Collects what the handler tells; the last of each counts. */
    private static final class Context implements WorkContext {
        private final Running running;
        private Note note = new Note(null, null, null);

        private Context(Running running) {
            this.running = running;
        }

        @Override
        public boolean isCancelled() {
            return running.isCancelled();
        }

        @Override
        public void progress(int percent) {
            tell(Require.percent(percent), null, null);
        }

        @Override
        public void progress(int percent, String text) {
            tell(Require.percent(percent), ErrorText.bounded(Require.storable("progress text", text)), null);
        }

        @Override
        public void result(String result) {
            tell(null, null, Require.storable("result", result));
        }

        private synchronized void tell(@Nullable Integer progress, @Nullable String text, @Nullable String result) {
            note = new Note(
                    progress == null ? note.progress() : progress,
                    text == null ? note.text() : text,
                    result == null ? note.result() : result);
            running.note(note);
        }
    }
}
