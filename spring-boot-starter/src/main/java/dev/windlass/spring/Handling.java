package dev.windlass.spring;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** How a handler differs from the others of its queue, see {@link dev.windlass.base.HandlerOptions}. What is not said is as for all of them. */
@Retention(RetentionPolicy.RUNTIME)
@Target({})
public @interface Handling {
    /** How many messages this node handles at once, at most. */
    int concurrency() default 0;

    /** How long one attempt may take, such as {@code "30s"} or {@code "PT30S"}. */
    String timeout() default "";

    /** How many attempts a message has, the first included. */
    int maxAttempts() default 0;

    /** The pause after the first failed attempt; it doubles with each further one. */
    String retryAfter() default "";

    /** The longest pause. */
    String retryAtMostAfter() default "";
}
