package dev.windlass.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTestContextBootstrapper;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Tests handlers of Windlass without the rest of the application: of its components only those with annotated methods are made, beside data
 * source, transactions, migrations, repositories and JSON. What the handlers need besides is named by {@code @Import}.
 *
 * <pre>{@code
 * @WindlassTest
 * @Import(Mailer.class)
 * class OrderMailsTest {
 *     @Autowired Outbox outbox;
 *     @Autowired Workbench workbench;
 *     …
 * }
 * }</pre>
 *
 * <p>The database is that of {@link EmbeddedWindlass}.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@BootstrapWith(SpringBootTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(HandlersOnly.class)
@ImportAutoConfiguration
@EmbeddedWindlass
public @interface WindlassTest {}
