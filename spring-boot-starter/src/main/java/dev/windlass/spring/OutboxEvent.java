package dev.windlass.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Events of this class that are published by Spring's {@code ApplicationEventPublisher} are written to the outbox, too: in the transaction of
 * who publishes them, so that they are sent exactly if that is committed. The class does not extend {@code ApplicationEvent}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface OutboxEvent {
    /** The topic. */
    String value();
}
