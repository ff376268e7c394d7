package dev.windlass.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a test of Spring Boot on a real PostgreSQL that comes with it, with Windlass in a schema of its own, and short pauses.
 *
 * <pre>{@code
 * @SpringBootTest
 * @EmbeddedWindlass
 * class OrdersTest {
 *     @Autowired Orders orders;
 *     @Autowired Workbench workbench;
 *
 *     @Test
 *     void aMailIsSentForEachOrder() {
 *         orders.place("order-1");
 *         workbench.drain();
 *         assertThat(mails).containsExactly("order-1");
 *     }
 * }
 * }</pre>
 *
 * <p>After each test, Windlass's tables are emptied; drain before, or what is in hand is lost with a warning. A {@code @Transactional} test
 * is rolled back, so its messages are never sent: nothing is there to drain.
 *
 * <p>Properties that the test gives itself, by {@code @SpringBootTest(properties = …)} or {@code @TestPropertySource(properties = …)}, come first. Those
 * of files, such as {@code @TestPropertySource(locations = …)}, come after what is said here.
 *
 * <p>An application with several stores has no single workbench: it makes a bean of type {@link dev.windlass.testkit.Workbench} for each store, and all
 * of them are emptied. Without any, tests fail and say so.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface EmbeddedWindlass {
    /** Whether the data source of the application is the embedded server; if not, it is the one that is configured. */
    boolean database() default true;
}
