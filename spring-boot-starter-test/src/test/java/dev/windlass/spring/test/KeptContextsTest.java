package dev.windlass.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.testkit.Workbench;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.TestPropertySource;

/** Contexts that Spring keeps for tests that are alike, and pauses while others run. */
final class KeptContextsTest {

    @WindlassTest
    @TestPropertySource(properties = "spring.application.name=kept")
    static class First {}

    @WindlassTest
    @TestPropertySource(properties = "spring.application.name=other")
    static class Other {}

    @WindlassTest
    @TestPropertySource(properties = "spring.application.name=kept")
    static class LikeTheFirst {}

    private static ApplicationContext run(Object test) throws Exception {
        TestContextManager manager = new TestContextManager(test.getClass());
        manager.beforeTestClass();
        manager.prepareTestInstance(test);
        ApplicationContext context = manager.getTestContext().getApplicationContext();
        manager.afterTestClass();
        return context;
    }

    @Test
    void handlersRestWhileAContextIsKeptAndGoOnWithTheNextTestThatUsesIt() throws Exception {
        ApplicationContext kept = run(new First());
        Outbox outbox = kept.getBean(Outbox.class);
        Workbench workbench = kept.getBean(Workbench.class);
        outbox.enqueue(OutboxEntry.of("order.placed", "1"));
        workbench.drain();

        run(new Other());
        assertThat(kept.getBean(Windlass.class).isRunning()).isFalse();
        outbox.enqueue(OutboxEntry.of("order.placed", "2"));
        assertThat(workbench.payloads("order.placed")).contains("2");

        assertThat(run(new LikeTheFirst())).isSameAs(kept);
        workbench.drain();
        assertThat(kept.getBean(Mails.class).sent).containsExactly("1", "2");
    }
}
