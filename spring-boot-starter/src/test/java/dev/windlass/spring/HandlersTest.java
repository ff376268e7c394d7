package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.Cancellation;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.lease.Lease;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.Jobs;
import dev.windlass.work.WorkContext;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkQueue;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/** Methods of beans that handle messages. */
final class HandlersTest {
    private static ConfigurableApplicationContext context;

    record Order(String id, int pieces) {}

    @OutboxEvent("order.shipped")
    record Shipped(String id) {}

    static class Heard {
        final Queue<Object> all = new ConcurrentLinkedQueue<>();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Heard.class, Methods.class})
    static class Application {
        @Bean
        @OnOutbox("by.bean")
        OutboxHandler byBean(Heard heard) {
            return (message, cancellation) -> heard.all.add("bean " + message.payload());
        }

        @Bean
        WindlassCustomizer more(Heard heard) {
            return builder -> builder.outboxHandler("by.customizer", message -> {
                heard.all.add("customizer " + message.payload());
            });
        }
    }

    static class Methods {
        final Heard heard;
        final Outbox outbox; // what handles messages may need what writes them
        final JdbcTemplate jdbc;
        final AtomicInteger tries = new AtomicInteger();

        Methods(Heard heard, Outbox outbox, JdbcTemplate jdbc) {
            this.heard = heard;
            this.outbox = outbox;
            this.jdbc = jdbc;
        }

        @OnOutbox("order.placed")
        void typed(Cancellation cancellation, Order order, OutboxMessage message) {
            heard.all.add(List.of(order, message.topic(), cancellation.isCancelled()));
        }

        @OnOutbox("${topics.plain:order.plain}")
        void plain(String payload) {
            heard.all.add(payload);
        }

        @OnOutbox("order.shipped")
        void shipped(Shipped shipped) {
            heard.all.add(shipped);
        }

        @OnOutbox(value = "fails.twice", handling = @Handling(maxAttempts = 3, retryAfter = "10ms", concurrency = 1))
        void failing() {
            if (tries.incrementAndGet() < 3) {
                throw new IllegalStateException("not yet");
            }
            heard.all.add("third time lucky");
        }

        @OnOutbox(value = "fails.always", handling = @Handling(maxAttempts = 1))
        void failingAlways() {
            throw new IllegalStateException("never");
        }

        @OnInbox("payment")
        void payment(InboxMessage message) {
            heard.all.add("payment " + message.payload());
        }

        @OnInbox(value = "booking", inTransaction = true)
        void booking(String payload) {
            jdbc.update("insert into bookings values (?)", payload);
            if (payload.equals("bad") && tries.incrementAndGet() < 100) {
                throw new IllegalStateException("undone");
            }
        }

        @OnWork(queue = "images", type = "resize")
        Order resize(Order order, WorkItem item, WorkContext context) {
            context.progress(50);
            return new Order(order.id, order.pieces * 2);
        }

        @CronJob(name = "tick", every = "1s")
        void tick() {
            if (!heard.all.contains("tick")) {
                heard.all.add("tick");
            }
        }

        @CronJob(name = "nightly", cron = "0 2 * * *", zone = "Europe/Berlin")
        void nightly(OutboxMessage run) {
            heard.all.add("nightly " + run.topic());
        }

        @UnderLease("index")
        public void rebuild() {
            heard.all.add("rebuilt");
        }
    }

    @BeforeAll
    static void start() {
        context = Contexts.start(
                Application.class,
                "windlass.inbox.handlers.max-attempts=2",
                "windlass.inbox.handlers.retry-after=10ms");
        context.getBean(JdbcTemplate.class).execute("create table if not exists bookings (id text)");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    private static Outbox outbox() {
        return context.getBean(Outbox.class);
    }

    private static void awaitHeard(Object what) {
        eventually()
                .untilAsserted(
                        () -> assertThat(context.getBean(Heard.class).all).contains(what));
    }

    @Test
    void aPayloadIsDecodedAndArgumentsComeInAnyOrder() {
        outbox().enqueue(outbox().entry("order.placed", new Order("7", 3)));

        awaitHeard(List.of(new Order("7", 3), "order.placed", false));
    }

    @Test
    void aStringComesAsItIs() {
        outbox().enqueue(OutboxEntry.of("order.plain", "not json"));

        awaitHeard("not json");
    }

    @Test
    void beansAndCustomizersHandleMessagesToo() {
        outbox().enqueue(OutboxEntry.of("by.bean", "1"));
        outbox().enqueue(OutboxEntry.of("by.customizer", "2"));

        awaitHeard("bean 1");
        awaitHeard("customizer 2");
    }

    @Test
    void anEventOfSpringIsSentByTheOutbox() {
        context.publishEvent(new Shipped("9"));

        awaitHeard(new Shipped("9"));
    }

    @Test
    void anAnnotationSaysHowOftenAMessageIsTried() {
        outbox().enqueue(OutboxEntry.of("fails.twice", ""));
        outbox().enqueue(OutboxEntry.of("fails.always", ""));

        awaitHeard("third time lucky");
        eventually().until(() -> count(context, "outbox where topic = 'fails.always' and status = 3") == 1);
    }

    @Test
    void anInboxHandlerInATransactionWritesOnceOrNotAtAll() {
        Inbox inbox = context.getBean(Inbox.class);
        inbox.enqueue(InboxEntry.of("bank", "1", "booking", "good"));
        inbox.enqueue(InboxEntry.of("bank", "1", "booking", "good"));
        inbox.enqueue(InboxEntry.of("bank", "2", "booking", "bad"));
        inbox.enqueue(InboxEntry.of("bank", "3", "payment", "5 EUR"));

        awaitHeard("payment 5 EUR");
        eventually().until(() -> count(context, "inbox where topic = 'booking' and status = 3") == 1);
        eventually()
                .untilAsserted(() -> assertThat(context.getBean(JdbcTemplate.class)
                                .queryForList("select id from bookings", String.class))
                        .containsExactly("good"));
    }

    @Test
    void whatAWorkHandlerReturnsIsTheResult() throws Exception {
        WorkQueue queue = context.getBean(WorkQueue.class);
        WorkIdentifier id = queue.enqueue(WorkEntry.of("images", "resize", "{\"id\":\"a\",\"pieces\":4}"));

        WorkItem done = queue.await(id, Duration.ofSeconds(40));

        assertThat(done.result())
                .hasValueSatisfying(result -> assertThat(result).contains("8"));
    }

    @Test
    void aJobAndItsCodeAreOneMethod() {
        awaitHeard("tick");
        Jobs jobs = context.getBean(Jobs.class);
        eventually().untilAsserted(() -> assertThat(jobs.find("nightly")).isPresent());
        jobs.trigger("nightly");
        awaitHeard("nightly nightly");
    }

    @Test
    void aMethodUnderALeaseRunsOnOneNodeAtATime() {
        Methods methods = context.getBean(Methods.class);
        Optional<Lease> held = context.getBean(Leases.class).tryAcquire("index", Duration.ofSeconds(30));
        try (Lease lease = held.orElseThrow()) {
            methods.rebuild();
            assertThat(lease.fencingToken()).isPositive();
            assertThat(context.getBean(Heard.class).all).doesNotContain("rebuilt");
        }

        methods.rebuild();

        assertThat(context.getBean(Heard.class).all).contains("rebuilt");
    }

    static class TwoPayloads {
        @OnOutbox("a")
        void handle(Order order, Shipped other) {}
    }

    static class Returning {
        @OnOutbox("a")
        String handle(String payload) {
            return payload;
        }
    }

    static class Generic {
        @OnOutbox("a")
        void handle(List<String> payload) {}
    }

    static class BadCron {
        @CronJob(name = "j", cron = "61 * * * *")
        void run() {}
    }

    static class CancelledInTransaction {
        @OnInbox(value = "a", inTransaction = true)
        void run(Cancellation cancellation) {}
    }

    @OnOutbox("a")
    static class NoHandler {}

    interface Something {}

    static class Hidden implements Something {
        @OnOutbox("hidden")
        void handle() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Hiding {
        /** Made after the outbox, and so after handlers were looked for. */
        @Bean
        Something something(Outbox outbox) {
            return new Hidden();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Plain {}

    @Test
    void badMethodsAreRefusedAtTheStartByName() {
        refused(
                "TwoPayloads.handle takes Order and Shipped, of which only one can be the payload",
                Plain.class,
                TwoPayloads.class);
        refused("Returning.handle returns String; expected void", Plain.class, Returning.class);
        refused("Generic.handle takes a payload of type java.util.List<java.lang.String>", Plain.class, Generic.class);
        refused("BadCron.run has an annotation that cannot be", Plain.class, BadCron.class);
        refused("CancelledInTransaction.run takes a Cancellation", Plain.class, CancelledInTransaction.class);
        refused("NoHandler has @OnOutbox, but is no dev.windlass.outbox.OutboxHandler", Plain.class, NoHandler.class);
        refused("Hidden.handle has @OnOutbox, but the class of bean \"something\" was not known", Hiding.class);
    }

    private static void refused(String why, Class<?>... classes) {
        assertThatThrownBy(() -> Contexts.startAll(List.of(classes)).close()).hasStackTraceContaining(why);
    }
}
