package dev.windlass.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Fleet;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.testkit.Workbench;
import java.lang.reflect.Method;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestContextManager;

/** Tests of applications with several stores, of which nobody but the application knows where their tables are. */
final class SeveralStoresTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithWorkbenches {
        @Bean
        Workbench north(DataSource source, Fleet fleet) {
            return new Workbench(
                    source, "several_north", "outbox", () -> fleet.at("north").outbox());
        }

        @Bean
        Workbench south(DataSource source, Fleet fleet) {
            return new Workbench(
                    source, "several_south", "outbox", () -> fleet.at("south").outbox());
        }
    }

    private static final String NORTH = "windlass.stores.north.data-source=dataSource";
    private static final String SOUTH = "windlass.stores.south.data-source=dataSource";

    @SpringBootTest(
            classes = Application.class,
            properties = {NORTH, "windlass.stores.north.schema=several_unknown"})
    @EmbeddedWindlass
    static class Unknown {
        void test() {}
    }

    @SpringBootTest(
            classes = WithWorkbenches.class,
            properties = {
                NORTH,
                SOUTH,
                "windlass.stores.north.schema=several_north",
                "windlass.stores.south.schema=several_south"
            })
    @EmbeddedWindlass
    static class Known {
        void test() {}
    }

    private static void afterTest(TestContextManager manager, Object test) throws Exception {
        Method method = test.getClass().getDeclaredMethod("test");
        manager.beforeTestMethod(test, method);
        manager.afterTestMethod(test, method, null);
    }

    private static TestContextManager prepared(Object test) throws Exception {
        TestContextManager manager = new TestContextManager(test.getClass());
        manager.beforeTestClass();
        manager.prepareTestInstance(test);
        return manager;
    }

    @Test
    void eachStoreThatHasAWorkbenchIsEmptied() throws Exception {
        Object test = new Known();
        TestContextManager manager = prepared(test);
        ApplicationContext context = manager.getTestContext().getApplicationContext();
        Fleet fleet = context.getBean(Fleet.class);
        for (String store : new String[] {"north", "south"}) {
            fleet.at(store).outbox().enqueue(OutboxEntry.of("nobody.handles.this", store));
            assertThat(context.getBean(store, Workbench.class).payloads("nobody.handles.this"))
                    .containsExactly(store);
        }

        afterTest(manager, test);

        assertThat(context.getBean("north", Workbench.class).messages("nobody.handles.this"))
                .isEmpty();
        assertThat(context.getBean("south", Workbench.class).messages("nobody.handles.this"))
                .isEmpty();
    }

    @Test
    void withoutOneATestIsToldWhatToDo() throws Exception {
        Object test = new Unknown();
        TestContextManager manager = prepared(test);
        String told = "make a bean of type Workbench for each of its stores";

        assertThatThrownBy(() -> afterTest(manager, test))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(told);
        ApplicationContext context = manager.getTestContext().getApplicationContext();
        assertThatThrownBy(() -> context.getBean(Workbench.class)).hasStackTraceContaining(told);
    }
}
