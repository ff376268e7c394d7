package dev.windlass.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Handles the items of one type in a work queue.
 *
 * <p>On a method of a bean: it takes the payload, the {@link dev.windlass.work.WorkItem} and the {@link dev.windlass.work.WorkContext}, in any
 * order, each at most once. What it returns, if it returns anything, is the result of the item. On a bean that is a
 * {@link dev.windlass.work.WorkHandler}: its class, or the method that makes it.
 */
@Documented
@Reflective(HandlerReflection.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface OnWork {
    String queue();

    String type();

    Handling handling() default @Handling;
}
