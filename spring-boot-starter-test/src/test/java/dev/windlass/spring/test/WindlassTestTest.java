package dev.windlass.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Jobs;
import dev.windlass.testkit.Workbench;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.transaction.annotation.Transactional;

/** Tests as users write them. */
final class WindlassTestTest {

    @Nested
    @WindlassTest
    class Slice {
        @Autowired
        Outbox outbox;

        @Autowired
        Workbench workbench;

        @Autowired
        Mails mails;

        @Autowired
        ApplicationContext context;

        @AfterEach
        void clear() {
            mails.sent.clear();
        }

        @Test
        void handlersAreThereAndOtherComponentsAreNot() {
            outbox.enqueue(OutboxEntry.of("order.placed", "1"));
            workbench.drain();
            assertThat(mails.sent).containsExactly("1");
            assertThat(context.getBeansOfType(Orders.class)).isEmpty();
        }

        @Test
        void handlersWhoseAnnotationsAreInheritedAreThereToo(
                @Autowired Billing.Receipts receipts, @Autowired Billing.Refunds refunds) {
            outbox.enqueue(OutboxEntry.of("order.paid", "1"));
            outbox.enqueue(OutboxEntry.of("order.refunded", "2"));
            workbench.drain();
            assertThat(receipts.written).contains("1");
            assertThat(refunds.written).contains("2");
        }

        @RepeatedTest(2)
        void jobsStayFromOneTestToTheNext(@Autowired Jobs jobs) {
            jobs.trigger("report");
            workbench.drain();
            assertThat(mails.sent).containsExactly("report");
        }

        @Test
        void nothingIsLeftOfOneTestForTheNext() {
            assertThat(workbench.messages("order.placed")).isEmpty();
            outbox.enqueue(OutboxEntry.of("order.placed", "2"));
            workbench.drain();
            assertThat(workbench.payloads("order.placed")).containsExactly("2");
        }
    }

    @Nested
    @WindlassTest
    @Import(Orders.class)
    class SliceWithMore {
        @Autowired
        Orders orders;

        @Autowired
        Mails mails;

        @Autowired
        Workbench workbench;

        @Test
        void timePasses() {
            orders.place("7");
            workbench.drain();
            assertThat(mails.sent).containsExactly("7");
            workbench.advance(Duration.ofDays(3));
            workbench.drain();
            assertThat(mails.sent).contains("pay 7", "report"); // which was due, too
        }
    }

    @Nested
    @SpringBootTest(properties = "windlass.schema=whole_shop")
    @EmbeddedWindlass
    class Whole {
        @Autowired
        Orders orders;

        @Autowired
        Workbench workbench;

        @Autowired
        Mails mails;

        @AfterEach
        void clear() {
            mails.sent.clear();
        }

        @Test
        void allOfTheApplicationRuns() {
            orders.place("8");
            workbench.drain();
            assertThat(mails.sent).containsExactly("8");
        }

        @Test
        @Transactional
        void whatATestRollsBackIsNeverSent() {
            orders.place("9");
            workbench.drain();
            assertThat(mails.sent).isEmpty();
        }

        @Test
        void propertiesOfTheTestComeFirst(@Autowired Environment environment) {
            assertThat(environment.getProperty("windlass.schema")).isEqualTo("whole_shop");
            assertThat(workbench.messages("order.placed")).isEmpty();
        }
    }
}
