package dev.windlass.spring;

import dev.windlass.schedule.Overlap;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * A job, and the method that does its work: once for each tick, however many nodes there are.
 *
 * <pre>{@code
 * @CronJob(name = "nightly-report", cron = "0 2 * * *", zone = "Europe/Berlin")
 * void report() { … }
 * }</pre>
 *
 * <p>The method takes the {@link dev.windlass.outbox.OutboxMessage} of the run, or nothing. Or it makes a bean that does the work: a {@code Runnable} or an
 * {@link dev.windlass.outbox.OutboxHandler.Simple}. The job is saved when the application starts; one whose method
 * is taken away stays until it is deleted, by {@link dev.windlass.schedule.Jobs#delete} or {@code windlass jobs delete}.
 *
 * <p>Whoever starts last decides what the job is. So while a new version with another schedule replaces the old one node by node, an old node that is
 * restarted brings the old schedule back, until a new one starts. Where that matters, bring the job along in a bean of type
 * {@link dev.windlass.schedule.JobSet}, whose revision decides, and handle its topic with {@link OnOutbox}.
 */
@Documented
@Reflective(HandlerReflection.class)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface CronJob {
    /** What it is known by; also the topic of its runs. */
    String name();

    /** When it runs, with five fields, or six with seconds first. Either this or {@link #every}. */
    String cron() default "";

    /** How often it runs instead, such as {@code "10m"}. */
    String every() default "";

    /** Whose local time the cron expression means. */
    String zone() default "UTC";

    /** What becomes of ticks while a run is unfinished. */
    Overlap overlap() default Overlap.ALLOW;

    /** How many ticks that were missed, while no node was there, are run: the latest one, unless this says more, or 0 for none. */
    int missed() default 1;

    /** Up to how much later than its tick a run begins, by chance, such as {@code "30s"}. */
    String jitter() default "";

    Handling handling() default @Handling;
}
