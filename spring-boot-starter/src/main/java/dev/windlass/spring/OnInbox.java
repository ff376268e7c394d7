package dev.windlass.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Handles the queued messages of a topic of the inbox.
 *
 * <p>On a method of a bean: it takes the payload, the {@link dev.windlass.inbox.InboxMessage} and the
 * {@link dev.windlass.base.Cancellation}, in any order, each at most once. On a bean that is a
 * {@link dev.windlass.inbox.InboxHandler}: its class, or the method that makes it.
 */
@Documented
@Reflective(HandlerReflection.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface OnInbox {
    /** The topic. */
    String value();

    /**
     * Whether the method runs in a transaction of the transaction manager that also ends the message: what it writes is written once,
     * however often the message is tried. Then it has no {@link dev.windlass.base.Cancellation}.
     */
    boolean inTransaction() default false;

    Handling handling() default @Handling;
}
