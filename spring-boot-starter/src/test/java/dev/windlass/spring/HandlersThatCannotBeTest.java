package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.spring.elsewhere.Nightly;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkQueue;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Handlers that would do something else than they say: they keep the application from starting, by name. */
final class HandlersThatCannotBeTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    static class Plain {}

    private static void refused(Class<?> type, String why) {
        assertThatThrownBy(() -> start(type).close()).hasStackTraceContaining(why);
    }

    private static ConfigurableApplicationContext start(Class<?>... types) {
        return Contexts.startAll(
                Stream.concat(Stream.of(Plain.class), Stream.of(types)).toList());
    }

    static class Leased {
        @UnderLease(value = "l", duration = "30")
        public void run() {}
    }

    static class TimedOut {
        @OnOutbox(value = "a", handling = @Handling(timeout = "30"))
        void handle() {}
    }

    static class Retried {
        @OnOutbox(value = "a", handling = @Handling(retryAfter = "30"))
        void handle() {}
    }

    static class Jittered {
        @CronJob(name = "a", every = "1h", jitter = "30")
        void run() {}
    }

    static class Every {
        @CronJob(name = "a", every = "${a.b:30}")
        void run() {}
    }

    static class TenMinutes {
        @CronJob(name = "a", every = "ten minutes")
        void run() {}
    }

    @Test
    void aDurationWithoutAUnitIsRefusedInAnAnnotationToo() {
        String rest = ": expected a duration with a unit (ms, s, m, h, d), for example 30s, got ";
        refused(Leased.class, "Leased.run has a @UnderLease that cannot be: duration" + rest + "30; say which unit");
        refused(TimedOut.class, "TimedOut.handle has a @OnOutbox that cannot be: timeout" + rest + "30");
        refused(Retried.class, "Retried.handle has a @OnOutbox that cannot be: retryAfter" + rest + "30");
        refused(Jittered.class, "Jittered.run has a @CronJob that cannot be: jitter" + rest + "30");
        refused(Every.class, "Every.run has a @CronJob that cannot be: every" + rest + "30");
        refused(TenMinutes.class, "TenMinutes.run has a @CronJob that cannot be: every" + rest + "ten minutes");
    }

    static class Negative {
        @OnOutbox(value = "a", handling = @Handling(timeout = "-1s"))
        void handle() {}
    }

    static class NoAttempts {
        @OnOutbox(value = "a", handling = @Handling(maxAttempts = -1))
        void handle() {}
    }

    @Test
    void valuesAreToldAsTheyAreWritten() {
        refused(Negative.class, "got -1s");
        refused(NoAttempts.class, "@Handling.maxAttempts: ");
        assertThat(List.of(Duration.ofDays(2), Duration.ofMinutes(90), Duration.ofMillis(1500), Duration.ZERO))
                .extracting(Durations::text)
                .containsExactly("2d", "90m", "1500ms", "0s");
    }

    static class Later {
        @OnWork(queue = "q", type = "t")
        CompletableFuture<String> work() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class LaterAgain {
        @OnWork(queue = "q", type = "t")
        Future<String> work() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class Stage {
        @OnOutbox("a")
        CompletionStage<Void> handle() {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Publishing {
        @OnInbox("a")
        Flow.@Nullable Publisher<String> handle() {
            return null;
        }
    }

    @Test
    void aHandlerThatIsDoneLaterIsRefused() {
        String rest = ", so it would return before its work is done";
        refused(Later.class, "Later.work returns CompletableFuture" + rest);
        refused(LaterAgain.class, "LaterAgain.work returns Future" + rest);
        refused(Stage.class, "Stage.handle returns CompletionStage" + rest);
        refused(Publishing.class, "Publishing.handle returns Publisher" + rest);
    }

    static class Perhaps {
        @OnWork(queue = "q", type = "t")
        Optional<String> work(String payload) {
            return Optional.of(payload).filter(each -> !each.isEmpty());
        }
    }

    @Test
    void whatAnOptionalHoldsIsTheResult() throws Exception {
        try (ConfigurableApplicationContext context = start(Perhaps.class)) {
            WorkQueue queue = context.getBean(WorkQueue.class);
            WorkIdentifier some = queue.enqueue(WorkEntry.of("q", "t", "it"));
            WorkIdentifier none = queue.enqueue(WorkEntry.of("q", "t", ""));

            assertThat(queue.await(some, Duration.ofSeconds(40)).result()).contains("it");
            assertThat(queue.await(none, Duration.ofSeconds(40)).result()).isEmpty();
        }
    }

    static class OfAnotherPackage extends Nightly.Handling {}

    static class LeasedOfAnotherPackage extends Nightly.Leased {}

    static class CallableOfAnotherPackage extends Nightly.Callable {}

    @Test
    void aMethodThatAProxyCannotOverrideIsRefused() {
        String rest = " is visible in its package only, and ";
        refused(OfAnotherPackage.class, "Handling.handle" + rest + OfAnotherPackage.class.getName());
        refused(LeasedOfAnotherPackage.class, "Leased.run" + rest + LeasedOfAnotherPackage.class.getName());
        start(CallableOfAnotherPackage.class).close();
    }

    @Configuration(proxyBeanMethods = false)
    static class Jobs {
        final Queue<String> ran = new ConcurrentLinkedQueue<>();

        @Bean
        @CronJob(name = "runnable", every = "1h")
        Runnable runnable() {
            return () -> ran.add("runnable");
        }

        @Bean
        @CronJob(name = "simple", every = "1h")
        OutboxHandler.Simple simple() {
            return (OutboxMessage message) -> ran.add(message.topic());
        }
    }

    @Test
    void aBeanCanBeTheWorkOfAJob() {
        try (ConfigurableApplicationContext context = start(Jobs.class)) {
            dev.windlass.schedule.Jobs jobs = context.getBean(dev.windlass.schedule.Jobs.class);
            eventually()
                    .until(() -> jobs.find("runnable").isPresent()
                            && jobs.find("simple").isPresent());
            jobs.trigger("runnable");
            jobs.trigger("simple");

            eventually()
                    .untilAsserted(() -> assertThat(context.getBean(Jobs.class).ran)
                            .containsExactlyInAnyOrder("runnable", "simple"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class HandlerAsJob {
        @Bean
        @CronJob(name = "a", every = "1h")
        OutboxHandler handler() {
            return (message, cancellation) -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TextAsHandler {
        @Bean
        @OnOutbox("a")
        String handler() {
            return "";
        }
    }

    @Test
    void aBeanThatIsNoHandlerIsRefused() {
        refused(HandlerAsJob.class, "bean \"handler\" has @CronJob, but is neither a java.lang.Runnable");
        refused(TextAsHandler.class, "java.lang.String has @OnOutbox, but is no dev.windlass.outbox.OutboxHandler");
    }

    static class Throwing {
        @OnOutbox(value = "a", handling = @Handling(maxAttempts = 1))
        void handle() throws Throwable {
            throw new Throwable("neither exception nor error");
        }
    }

    @Test
    void whateverAHandlerThrowsIsItsFailure() {
        try (ConfigurableApplicationContext context = start(Throwing.class)) {
            var unused = context.getBean(Outbox.class).enqueue(OutboxEntry.of("a", ""));

            eventually()
                    .until(() -> count(context, "outbox where status = 3 and last_error like '%neither exception nor%'")
                            == 1);
        }
    }
}
