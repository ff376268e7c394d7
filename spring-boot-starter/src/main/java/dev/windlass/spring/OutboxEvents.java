package dev.windlass.spring;

import dev.windlass.outbox.Outbox;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Writes events with {@link OutboxEvent} to the outbox. */
final class OutboxEvents implements ApplicationListener<ApplicationEvent> {
    private final Supplier<Outbox> outbox;
    private final AnnotatedHandlers.Texts texts;

    OutboxEvents(Supplier<Outbox> outbox, AnnotatedHandlers.Texts texts) {
        this.outbox = outbox;
        this.texts = texts;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        Object payload = event instanceof PayloadApplicationEvent<?> plain ? plain.getPayload() : event;
        OutboxEvent annotation = AnnotatedElementUtils.findMergedAnnotation(payload.getClass(), OutboxEvent.class);
        if (annotation == null) {
            return;
        }
        if (payload == event) {
            throw new IllegalStateException("expected a plain class or record with @OutboxEvent, got "
                    + payload.getClass().getName()
                    + ", which extends ApplicationEvent, whose source cannot be written; publish it without that");
        }
        Outbox its = outbox.get();
        its.enqueue(its.entry(Objects.requireNonNull(texts.resolve(annotation.value())), payload));
    }

    /** On the thread, and in the transaction, of who publishes it. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }
}
