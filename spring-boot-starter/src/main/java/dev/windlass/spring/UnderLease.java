package dev.windlass.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that runs on one node at a time: under a lease, which is renewed meanwhile and given back at the end. If another node holds it, the
 * method is not run, and its caller is not told. When the lease is lost, the thread is interrupted and the call ends with a
 * {@link dev.windlass.lease.LostLeaseException}.
 *
 * <pre>{@code
 * @Scheduled(fixedDelay = 60_000)
 * @UnderLease("rebuild-index")
 * void rebuild() { … }
 * }</pre>
 *
 * <p>The method returns nothing. It is called through Spring's proxy, so not by other methods of the same object, and is neither private nor
 * {@code final} nor {@code @Async}; what cannot be keeps the application from starting.
 *
 * <p>A transaction of the method itself ({@code @Transactional}) ends under the lease. That of its caller ends later, when the lease has been
 * given back: another node may then run the method without seeing what this one has written. So call it outside of transactions.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface UnderLease {
    /** The name of the lease. */
    String value();

    /** For how long others are kept out after a crash. It need not be as long as the work. */
    String duration() default "30s";
}
