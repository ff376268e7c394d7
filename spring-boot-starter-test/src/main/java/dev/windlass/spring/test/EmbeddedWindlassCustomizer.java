package dev.windlass.spring.test;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.testkit.Workbench;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Gives a context the database of {@link EmbeddedWindlass}. Two tests that ask for the same are given the same context, as Spring does with
 * all that makes one context unlike another.
 *
 * @param database whether the data source is the embedded server
 */
record EmbeddedWindlassCustomizer(boolean database) implements ContextCustomizer {
    static final String WORKBENCH = "windlassWorkbench";
    private static final String INLINED = "Inlined Test Properties";

    static final class Factory implements ContextCustomizerFactory {
        @Override
        public @Nullable ContextCustomizer createContextCustomizer(
                Class<?> test, List<ContextConfigurationAttributes> attributes) {
            EmbeddedWindlass annotation = TestContextAnnotationUtils.findMergedAnnotation(test, EmbeddedWindlass.class);
            return annotation == null ? null : new EmbeddedWindlassCustomizer(annotation.database());
        }
    }

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
        addProperties(context.getEnvironment());
        BeanDefinitionRegistry registry = (BeanDefinitionRegistry) context.getBeanFactory();
        RootBeanDefinition workbench = new RootBeanDefinition(
                Workbench.class, () -> workbench(context.getBeanFactory(), context.getEnvironment()));
        workbench.setLazyInit(true);
        registry.registerBeanDefinition(WORKBENCH, workbench);
    }

    private void addProperties(ConfigurableEnvironment environment) {
        MutablePropertySources sources = environment.getPropertySources();
        MapPropertySource ours = new MapPropertySource("windlass tests", properties());
        if (sources.contains(INLINED)) {
            sources.addAfter(INLINED, ours);
        } else {
            sources.addFirst(ours);
        }
    }

    /** Polls often instead of listening: ending a subscription takes up to a quarter of a second, in every context. */
    private Map<String, Object> properties() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("windlass.schema", "t_" + UUID.randomUUID().toString().replace('-', '_'));
        all.put("windlass.ensure-schema", "true");
        all.put("windlass.max-polling-interval", "50ms");
        all.put("windlass.outbox.polling-interval", "10ms");
        all.put("windlass.inbox.polling-interval", "10ms");
        all.put("windlass.work.polling-interval", "10ms");
        all.put("windlass.wake-up", "false");
        all.put("windlass.shutdown-grace", "1s");
        if (database) {
            EmbeddedPostgres server = EmbeddedPostgres.shared();
            all.put("spring.datasource.url", server.jdbcUrl());
            all.put("spring.datasource.username", server.user());
            all.put("spring.datasource.password", server.password());
        }
        return all;
    }

    private static Workbench workbench(ListableBeanFactory beans, ConfigurableEnvironment environment) {
        if (beans.getBeanNamesForType(Fleet.class).length > 0) {
            throw noWorkbench();
        }
        String named = environment.getProperty("windlass.data-source");
        return new Workbench(
                named == null ? beans.getBean(DataSource.class) : beans.getBean(named, DataSource.class),
                environment.getProperty(
                        "windlass.schema", WindlassOptions.defaults().schemaName()),
                environment.getProperty(
                        "windlass.outbox.table", OutboxOptions.defaults().tableName()),
                () -> beans.getBean(Windlass.class).outbox());
    }

    static IllegalStateException noWorkbench() {
        return new IllegalStateException(
                "expected one Windlass for the Workbench of @EmbeddedWindlass, got a Fleet; make a bean"
                        + " of type Workbench for each of its stores: new Workbench(dataSource, schema, \"outbox\", () ->"
                        + " fleet.at(store).outbox()). All of them are emptied after each test");
    }
}
