package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.Cancellation;
import dev.windlass.base.WindlassOptions;
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
import dev.windlass.schedule.Misfire;
import dev.windlass.work.WorkContext;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkQueue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.annotation.Transactional;

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
                    })
                    .options(its -> its.withCallRetries(its.callRetries().withMaxAttempts(2)))
                    .options(its -> {
                        heard.all.add(its);
                        return its;
                    });
        }

        @Bean
        ObservationHandler<Observation.Context> traces(Heard heard) {
            return new ObservationHandler<>() {
                @Override
                public void onStop(Observation.Context observation) {
                    heard.all.add(observation.getName() + " as " + observation.getContextualName());
                }

                @Override
                public boolean supportsContext(Observation.Context observation) {
                    return String.valueOf(observation.getName()).startsWith("windlass.");
                }
            };
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

        @OnOutbox(value = "too.slow", handling = @Handling(maxAttempts = 1, timeout = "50ms"))
        void tooSlow() throws InterruptedException {
            new CountDownLatch(1).await();
        }

        @OnOutbox(value = "soon.again", handling = @Handling(retryAfter = "10m", retryAtMostAfter = "10ms"))
        void soonAgain(OutboxMessage message) {
            if (!heard.all.contains("the first time")) {
                heard.all.add("the first time");
                throw new IllegalStateException("not yet");
            }
            heard.all.add("the second time");
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

        @CronJob(name = "nightly", cron = "0 2 * * *", zone = "Europe/Berlin", missed = 3, jitter = "20s")
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

    @OutboxEvent("old.event")
    static final class OldEvent extends ApplicationEvent {
        private static final long serialVersionUID = 1L;

        OldEvent() {
            super("its source");
        }
    }

    @Test
    void anEventWithASourceIsRefused() {
        assertThatThrownBy(() -> context.publishEvent(new OldEvent()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("expected a plain class or record with @OutboxEvent, got")
                .hasMessageContaining("OldEvent, which extends ApplicationEvent");
        assertThat(count(context, "outbox where topic = 'old.event'")).isZero();
    }

    @Test
    void anAnnotationSaysHowOftenAMessageIsTried() {
        outbox().enqueue(OutboxEntry.of("fails.twice", ""));
        outbox().enqueue(OutboxEntry.of("fails.always", ""));

        awaitHeard("third time lucky");
        eventually().until(() -> count(context, "outbox where topic = 'fails.always' and status = 3") == 1);
    }

    @Test
    void anAnnotationSaysHowLongAnAttemptAndThePauseAfterItMayBe() {
        outbox().enqueue(OutboxEntry.of("too.slow", ""));
        outbox().enqueue(OutboxEntry.of("soon.again", ""));

        awaitHeard("the second time");
        eventually().until(() -> count(context, "outbox where topic = 'too.slow' and status = 3") == 1);
    }

    @Test
    void whoWritesAMessageAndWhoHandlesItAreObserved() {
        outbox().enqueue(OutboxEntry.of("order.plain", "observed"));

        awaitHeard("observed");
        awaitHeard("windlass.write as order.plain write");
        awaitHeard("windlass.handle as order.plain handle");
    }

    @Test
    void aCustomizerChangesAnOptionAndLeavesThePropertiesAsTheyAre() {
        WindlassOptions options = (WindlassOptions) context.getBean(Heard.class).all.stream()
                .filter(WindlassOptions.class::isInstance)
                .findFirst()
                .orElseThrow();
        assertThat(options.callRetries().maxAttempts()).isEqualTo(2);
        assertThat(options.ensureSchema()).isTrue();
        assertThat(options.schemaName()).isEqualTo(context.getEnvironment().getProperty("windlass.schema"));
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
        assertThat(jobs.find("nightly").orElseThrow().job())
                .satisfies(job -> assertThat(job.misfire()).isEqualTo(Misfire.all(3)))
                .satisfies(job -> assertThat(job.jitter()).isEqualTo(Duration.ofSeconds(20)));
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
        refused("BadCron.run has a @CronJob that cannot be: ", Plain.class, BadCron.class);
        refused("CancelledInTransaction.run takes a Cancellation", Plain.class, CancelledInTransaction.class);
        refused("NoHandler has @OnOutbox, but is no dev.windlass.outbox.OutboxHandler", Plain.class, NoHandler.class);
    }

    static class NoSuchProperty {
        @OnOutbox("${no.such.topic}")
        void handle() {}
    }

    @OnOutbox(value = "a", handling = @Handling(timeout = "soon"))
    static class BadTimeout implements OutboxHandler {
        @Override
        public void handle(OutboxMessage message, Cancellation cancellation) {}
    }

    static class NoAttempts {
        @OnWork(queue = "q", type = "t", handling = @Handling(maxAttempts = -1))
        void handle() {}
    }

    static class SameTopic {
        @OnOutbox("same")
        void first() {}

        @OnOutbox("same")
        void second() {}
    }

    @Test
    void aValueThatCannotBeIsToldWithTheMethodOrClassThatHasIt() {
        refused("NoSuchProperty.handle has a @OnOutbox that cannot be: ", Plain.class, NoSuchProperty.class);
        refused("BadTimeout has a @OnOutbox that cannot be: ", Plain.class, BadTimeout.class);
        refused("NoAttempts.handle has a @OnWork that cannot be: ", Plain.class, NoAttempts.class);
    }

    static class Inherited extends Base {}

    static class SameInbox {
        @OnInbox("same")
        void first() {}

        @OnInbox("same")
        void second() {}
    }

    static class SameWork {
        @OnWork(queue = "q", type = "t")
        void first() {}

        @OnWork(queue = "q", type = "t")
        void second() {}
    }

    static class JobAndTopic {
        @CronJob(name = "same", every = "1d")
        void run() {}

        @OnOutbox("same")
        void handle() {}
    }

    @Test
    void bothHandlersOfOneTopicAreTold() {
        refused("SameTopic.first of bean", Plain.class, SameTopic.class);
        refused("SameTopic.second of bean", Plain.class, SameTopic.class);
        refused("both handle topic same of the outbox; expected one handler", Plain.class, SameTopic.class);
        refused("Base.handle of bean \"handlersTest.Base\"", Plain.class, Base.class, Inherited.class);
        refused("Base.handle of bean \"handlersTest.Inherited\"", Plain.class, Base.class, Inherited.class);
        refused("both handle topic same of the inbox", Plain.class, SameInbox.class);
        refused("both handle type t of queue q", Plain.class, SameWork.class);
        refused("JobAndTopic.run of bean", Plain.class, JobAndTopic.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Heard.class)
    static class WithScopes {
        @Bean
        static CustomScopeConfigurer scopes() {
            CustomScopeConfigurer scopes = new CustomScopeConfigurer();
            scopes.addScope("request", new SimpleThreadScope());
            scopes.addScope("refresh", new SimpleThreadScope());
            return scopes;
        }
    }

    static class Numbered {
        private static final AtomicInteger made = new AtomicInteger();

        private final Heard heard;
        private final int number = made.incrementAndGet();

        Numbered(Heard heard) {
            this.heard = heard;
        }

        @OnOutbox("a")
        void handle(String payload) {
            heard.all.add(payload + " by " + number);
        }
    }

    static class OfRequests extends WithScopes {
        @Bean
        @Scope("request")
        Numbered numbered(Heard heard) {
            return new Numbered(heard);
        }
    }

    static class BehindAProxyOfRequests extends WithScopes {
        @Bean
        @Scope(scopeName = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
        Known numbered() {
            return new Known();
        }
    }

    static class OfAnotherScope extends WithScopes {
        @Bean
        @Scope("refresh")
        Numbered numbered(Heard heard) {
            return new Numbered(heard);
        }
    }

    @Test
    void aBeanThatIsNotThereOnEachThreadIsRefused() {
        refused("Numbered.handle handles messages, and its bean \"numbered\" has the scope request", OfRequests.class);
        refused("Known.handle handles messages, and its bean \"numbered\" has the", BehindAProxyOfRequests.class);
        refused("Numbered.handle handles messages, and its bean \"numbered\" has the scope", OfAnotherScope.class);
    }

    static class BehindAProxy extends WithScopes {
        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
        Known known() {
            return new Known();
        }

        @Bean
        @Scope("prototype")
        Numbered numbered(Heard heard) {
            return new Numbered(heard);
        }
    }

    @Test
    void eachMessageHasAPrototypeOfItsOwn() {
        try (ConfigurableApplicationContext scoped = Contexts.start(BehindAProxy.class)) {
            Queue<Object> heard = scoped.getBean(Heard.class).all;
            scoped.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "first"));
            scoped.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "second"));
            eventually().until(() -> heard.size() == 2);
            assertThat(heard.stream().map(each -> each.toString().replaceFirst(".* by ", "")))
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void aBeanBehindAScopedProxyHandlesMessages() {
        try (ConfigurableApplicationContext scoped = Contexts.start(BehindAProxy.class)) {
            scoped.getBean(Outbox.class).enqueue(OutboxEntry.of("known", "1"));

            eventually().until(() -> count(scoped, "outbox where topic = 'known' and status = 2") == 1);
        }
    }

    static class Private {
        @OnOutbox("a")
        @SuppressWarnings("UnusedMethod")
        private void handle() {}
    }

    static class Asynchronous {
        @Async
        @OnOutbox("a")
        public void handle() {}
    }

    @Async
    static class AllAsynchronous extends Base {}

    static class Base {
        @OnOutbox("a")
        public void handle() {}
    }

    @Async
    @OnOutbox("a")
    static class AsynchronousHandler implements OutboxHandler {
        @Override
        public void handle(OutboxMessage message, Cancellation cancellation) {}
    }

    static class Leased {
        @UnderLease("a")
        @OnOutbox("a")
        public void handle() {}
    }

    @OnOutbox("a")
    static class LeasedHandler implements OutboxHandler {
        @Override
        @UnderLease("a")
        public void handle(OutboxMessage message, Cancellation cancellation) {}
    }

    static class Final {
        @Transactional
        public void work() {}

        @OnOutbox("a")
        final void handle() {}
    }

    interface Shipping {
        void ship(String payload);
    }

    static class InNoInterface implements Shipping {
        @Override
        public void ship(String payload) {}

        @Transactional
        @OnOutbox("a")
        public void handle() {}
    }

    @Test
    void aMethodThatCannotBeCalledAsItHasToBeIsRefused() {
        refused("Private.handle is private; expected a method that a proxy", Plain.class, Private.class);
        refused("Asynchronous.handle is @Async, so it would return before", Plain.class, Asynchronous.class);
        refused("Base.handle is @Async, so it would return before", Plain.class, AllAsynchronous.class);
        refused("AsynchronousHandler.handle is @Async, so it would", Plain.class, AsynchronousHandler.class);
        refused("Leased.handle has @UnderLease, so its message would be over", Plain.class, Leased.class);
        refused("LeasedHandler.handle has @UnderLease, so its message", Plain.class, LeasedHandler.class);
        refused("Final.handle is final, so the proxy of its bean cannot", Plain.class, Final.class);
        refused(
                "InNoInterface.handle is in none of the interfaces of its bean",
                List.of(Plain.class, InNoInterface.class),
                "spring.aop.proxy-target-class=false");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class LateFinal {
        @Bean
        @Lazy
        Final late() {
            return new Final();
        }
    }

    @Test
    void aMethodOfALazyBeanThatCannotBeCalledFailsItsMessages() {
        try (ConfigurableApplicationContext late =
                Contexts.start(LateFinal.class, "windlass.outbox.handlers.max-attempts=1")) {
            late.getBean(Outbox.class).enqueue(OutboxEntry.of("a", ""));

            eventually().until(() -> count(late, "outbox where last_error like '%Final.handle is final%'") == 1);
        }
    }

    static class ByInterface implements Shipping {
        final Heard heard;

        ByInterface(Heard heard) {
            this.heard = heard;
        }

        @Override
        @Transactional
        @OnOutbox("a")
        public final void ship(String payload) {
            heard.all.add(payload);
        }
    }

    @Test
    void aMethodOfAnInterfaceIsCalledThroughTheProxyOfIt() {
        try (ConfigurableApplicationContext proxied = Contexts.startAll(
                List.of(Plain.class, Heard.class, ByInterface.class), "spring.aop.proxy-target-class=false")) {
            proxied.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "shipped"));

            eventually()
                    .untilAsserted(
                            () -> assertThat(proxied.getBean(Heard.class).all).containsExactly("shipped"));
            assertThat(AopUtils.isJdkDynamicProxy(proxied.getBean(Shipping.class)))
                    .isTrue();
        }
    }

    @OnOutbox("hidden")
    static class HiddenHandler implements OutboxHandler {
        @Override
        public void handle(OutboxMessage message, Cancellation cancellation) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class HidingAHandler {
        @Bean
        OutboxHandler something(Outbox outbox) {
            return new HiddenHandler();
        }
    }

    static class Known {
        final Queue<String> heard = new ConcurrentLinkedQueue<>();

        @OnOutbox("known")
        void handle(String payload) {
            heard.add("known " + payload);
        }
    }

    static class HalfKnown extends Known {
        @OnOutbox("unknown")
        void other() {}
    }

    static class Renamed extends Known {
        @Override
        @OnOutbox("renamed")
        void handle(String payload) {}
    }

    static class Overridden extends Known {
        @Override
        void handle(String payload) {
            heard.add("overridden " + payload);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class HidingAMethod {
        @Bean
        Known something(Outbox outbox) {
            return new HalfKnown();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class HidingAName {
        @Bean
        Known something(Outbox outbox) {
            return new Renamed();
        }
    }

    @Configuration
    @EnableAutoConfiguration
    static class HidingNothing {
        @Bean
        Known something(Outbox outbox) {
            return new Overridden();
        }

        /** Spring calls it at a subclass of this class. */
        @OnOutbox("own")
        final void handle() {}
    }

    @Test
    void anAnnotationThatWasNotSeenIsRefused() {
        refused("Hidden.handle has @OnOutbox, but the class of bean \"something\" was not known", Hiding.class);
        refused("HiddenHandler has @OnOutbox, but the class of bean \"something\" was not", HidingAHandler.class);
        refused("HalfKnown.other has @OnOutbox, but the class of bean \"something\" was not", HidingAMethod.class);
        refused("Renamed.handle has @OnOutbox, but the class of bean \"something\" was not", HidingAName.class);
    }

    @Test
    void anAnnotationThatWasNotSeenIsRefusedWhereBeansAreLazy() {
        String lazy = "spring.main.lazy-initialization=true";
        refused("TwoPayloads.handle takes Order and Shipped", List.of(Plain.class, TwoPayloads.class), lazy);
        try (ConfigurableApplicationContext context = Contexts.start(Hiding.class, lazy)) {
            assertThatThrownBy(() -> context.getBean("something"))
                    .hasStackTraceContaining(
                            "Hidden.handle has @OnOutbox, but the class of bean \"something\" was not");
        }
    }

    @Test
    void aMethodThatASubclassWritesAgainIsCalled() {
        try (ConfigurableApplicationContext known = Contexts.start(HidingNothing.class)) {
            known.getBean(Outbox.class).enqueue(OutboxEntry.of("known", "1"));

            eventually()
                    .untilAsserted(
                            () -> assertThat(known.getBean(Known.class).heard).containsExactly("overridden 1"));
        }
    }

    private static void refused(String why, Class<?>... classes) {
        refused(why, List.of(classes));
    }

    private static void refused(String why, List<Class<?>> classes, String... properties) {
        assertThatThrownBy(() -> Contexts.startAll(classes, properties).close()).hasStackTraceContaining(why);
    }
}
