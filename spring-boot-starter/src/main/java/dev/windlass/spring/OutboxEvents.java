package dev.windlass.spring;

import dev.windlass.outbox.Outbox;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Writes events with {@link OutboxEvent} to the outbox. */
final class OutboxEvents implements ApplicationListener<PayloadApplicationEvent<?>> {
    private final Supplier<Outbox> outbox;
    private final AnnotatedHandlers.Texts texts;

    OutboxEvents(Supplier<Outbox> outbox, AnnotatedHandlers.Texts texts) {
        this.outbox = outbox;
        this.texts = texts;
    }

    @Override
    public void onApplicationEvent(PayloadApplicationEvent<?> event) {
        Object payload = event.getPayload();
        OutboxEvent annotation = AnnotatedElementUtils.findMergedAnnotation(payload.getClass(), OutboxEvent.class);
        if (annotation != null) {
            Outbox its = outbox.get();
            its.enqueue(its.entry(Objects.requireNonNull(texts.resolve(annotation.value())), payload));
        }
    }

    /** On the thread, and in the transaction, of who publishes it. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }
}
