package dev.windlass.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Handles the messages of a topic of the outbox.
 *
 * <pre>{@code
 * @OnOutbox("order.placed")
 * void send(OrderPlaced order) { … }
 * }</pre>
 *
 * <p>On a method of a bean: it takes the payload, the {@link dev.windlass.outbox.OutboxMessage} and the
 * {@link dev.windlass.base.Cancellation}, in any order, each at most once. A payload that is a {@code String} comes as it is, others are
 * decoded. On a bean that is a {@link dev.windlass.outbox.OutboxHandler}: its class, or the method that makes it.
 *
 * <p>Texts may have placeholders, such as <code>"${mail.timeout:30s}"</code>.
 */
@Documented
@Reflective(HandlerReflection.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface OnOutbox {
    /** The topic. */
    String value();

    Handling handling() default @Handling;
}
