package dev.windlass.spring;

import dev.windlass.outbox.Outbox;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Writes events with {@link OutboxEvent} to the outbox.
 *
 * <p>Spring passes what is published in a context on to its parent, after the listeners of the context. Where both have a Windlass, that of the
 * context writes it, and no other.
 */
final class OutboxEvents implements ApplicationListener<ApplicationEvent> {
    /** What this thread has written, and parents are still to be told of. Only an exception of another listener keeps them from that. */
    private static final ThreadLocal<List<Written>> passedOn = ThreadLocal.withInitial(ArrayList::new);

    private record Written(WeakReference<OutboxEvents> by, WeakReference<Object> payload) {}

    private final Supplier<Outbox> outbox;
    private final AnnotatedHandlers.Texts texts;
    private final boolean isPassedOn;

    OutboxEvents(Supplier<Outbox> outbox, ConfigurableListableBeanFactory beans) {
        this.outbox = outbox;
        this.texts = beans::resolveEmbeddedValue;
        this.isPassedOn = beans.getParentBeanFactory() instanceof ListableBeanFactory parent
                && BeanFactoryUtils.beanNamesForTypeIncludingAncestors(parent, OutboxEvents.class, true, false).length
                        > 0;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        Object payload = event instanceof PayloadApplicationEvent<?> plain ? plain.getPayload() : event;
        OutboxEvent annotation = AnnotatedElementUtils.findMergedAnnotation(payload.getClass(), OutboxEvent.class);
        if (annotation == null || isWrittenByChild(payload)) {
            return;
        }
        if (payload == event) {
            throw new IllegalStateException("expected a plain class or record with @OutboxEvent, got "
                    + payload.getClass().getName()
                    + ", which extends ApplicationEvent, whose source cannot be written; publish it without that");
        }
        Outbox its = outbox.get();
        its.enqueue(its.entry(Objects.requireNonNull(texts.resolve(annotation.value())), payload));
        if (isPassedOn) {
            passedOn.get().add(new Written(new WeakReference<>(this), new WeakReference<>(payload)));
        }
    }

    /** Who publishes the same event again, after an exception of another listener, has it written again. */
    private boolean isWrittenByChild(Object payload) {
        List<Written> all = passedOn.get();
        all.removeIf(each -> each.payload.refersTo(null) || (each.by.refersTo(this) && each.payload.refersTo(payload)));
        return isPassedOn
                ? all.stream().anyMatch(each -> each.payload.refersTo(payload))
                : all.removeIf(each -> each.payload.refersTo(payload));
    }

    /** On the thread, and in the transaction, of who publishes it. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }
}
