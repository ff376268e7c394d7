package dev.windlass.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.windlass.lease.Lease;
import dev.windlass.lease.Leases;
import dev.windlass.lease.LostLeaseException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Methods that run under a lease, and those that cannot. */
final class LeasedMethodsTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class WithAsync extends Plain {}

    static class Asynchronous {
        @Async
        @UnderLease("a")
        public void run() {}
    }

    @Async
    static class AllAsynchronous extends Base {}

    static class Base {
        @UnderLease("a")
        public void run() {}
    }

    @Test
    void aMethodThatReturnsBeforeItsWorkIsDoneIsRefused() {
        refused("Asynchronous.run has @UnderLease and is @Async, so the lease", WithAsync.class, Asynchronous.class);
        refused("Base.run has @UnderLease and is @Async, so the lease", WithAsync.class, AllAsynchronous.class);
    }

    static class Returning {
        @UnderLease("a")
        public String run() {
            return "";
        }
    }

    static class BadDuration {
        @UnderLease(value = "a", duration = "soon")
        public void run() {}
    }

    static class TooLong {
        @UnderLease(value = "a", duration = "${too.long:8d}")
        public void run() {}
    }

    static class NoName {
        @UnderLease("")
        public void run() {}
    }

    static class NoSuchProperty {
        @UnderLease("${no.such.lease}")
        public void run() {}
    }

    static class Final {
        @UnderLease("a")
        public final void run() {}
    }

    static class Private {
        @UnderLease("a")
        @SuppressWarnings("UnusedMethod")
        private void run() {}
    }

    static class Static {
        @UnderLease("a")
        public static void run() {}
    }

    @Test
    void whatCannotRunUnderALeaseIsRefusedAtTheStartByName() {
        refused("Returning.run has @UnderLease and returns something", Plain.class, Returning.class);
        refused("BadDuration.run has a @UnderLease that cannot be: ", Plain.class, BadDuration.class);
        refused("TooLong.run has a @UnderLease that cannot be: expected", Plain.class, TooLong.class);
        refused("NoName.run has a @UnderLease that cannot be: expected", Plain.class, NoName.class);
        refused("NoSuchProperty.run has a @UnderLease that cannot be: ", Plain.class, NoSuchProperty.class);
        refused("Final.run is final, so the proxy of its bean cannot", Plain.class, Final.class);
        refused("Private.run has @UnderLease and is private or static", Plain.class, Private.class);
        refused("Static.run has @UnderLease and is private or static", Plain.class, Static.class);
    }

    interface Cleaning {
        void clean();
    }

    static class Housekeeping implements Cleaning {
        private int cleaned;
        private int swept;

        @Override
        @UnderLease("clean")
        public void clean() {
            cleaned++;
        }

        @UnderLease("sweep")
        public void sweep() {
            swept++;
        }

        public int done() {
            return cleaned + swept;
        }
    }

    @Test
    void aBeanWithAnInterfaceIsStillOfItsClass() {
        try (ConfigurableApplicationContext context = start(Plain.class, Housekeeping.class)) {
            Housekeeping housekeeping = context.getBean(Housekeeping.class);
            try (Lease lease = lease(context, "sweep").orElseThrow()) {
                housekeeping.sweep();
                assertThat(lease.fencingToken()).isPositive();
                assertThat(housekeeping.done()).isZero();
            }
            housekeeping.sweep();
            assertThat(housekeeping.done()).isOne();
        }
    }

    static class OnlyByInterface implements Cleaning {
        @Override
        @UnderLease("clean")
        public final void clean() {}
    }

    @Test
    void proxiesHaveOnlyInterfacesWhereTheApplicationWantsThat() {
        String interfaces = "spring.aop.proxy-target-class=false";
        try (ConfigurableApplicationContext context =
                Contexts.startAll(List.of(Plain.class, OnlyByInterface.class), interfaces)) {
            Cleaning cleaning = context.getBean(Cleaning.class);
            assertThat(AopUtils.isJdkDynamicProxy(cleaning)).isTrue();
            cleaning.clean();
            assertThat(context.getBean(Leases.class).find("clean")).isPresent();
        }
        assertThatThrownBy(() -> Contexts.startAll(List.of(Plain.class, Housekeeping.class), interfaces)
                        .close())
                .hasStackTraceContaining("Housekeeping.sweep is in none of the interfaces of its bean")
                .hasStackTraceContaining("proxyTargetClass=true at @EnableAsync and the like");
    }

    static class InTransaction {
        private final Leases leases;
        private Optional<Lease> afterwards = Optional.empty();
        private int ends;

        InTransaction(Leases leases) {
            this.leases = leases;
        }

        @Transactional
        @UnderLease("book")
        public void book() {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCompletion(int status) {
                    ends++;
                    afterwards = leases.tryAcquire("book", Duration.ofSeconds(30));
                }
            });
        }

        public int ends() {
            return ends;
        }

        public Optional<Lease> afterwards() {
            return afterwards;
        }
    }

    @Test
    void theTransactionOfAMethodEndsUnderItsLease() {
        try (ConfigurableApplicationContext context = start(Plain.class, InTransaction.class)) {
            InTransaction booking = context.getBean(InTransaction.class);
            booking.book();
            assertThat(booking.ends()).isOne();
            assertThat(booking.afterwards()).isEmpty();
            assertThat(lease(context, "book")).isPresent();
        }
    }

    static class Working {
        private final JdbcTemplate jdbc;
        private final String schema;
        private final CountDownLatch begun = new CountDownLatch(1);

        Working(JdbcTemplate jdbc, @Value("${windlass.schema}") String schema) {
            this.jdbc = jdbc;
            this.schema = schema;
        }

        @UnderLease("fails")
        public void fail() throws IOException {
            throw new IOException("the disk is full");
        }

        @UnderLease("waits")
        public void await() throws InterruptedException {
            begun.countDown();
            new CountDownLatch(1).await();
        }

        @UnderLease(value = "lost", duration = "300ms")
        public void lose() throws InterruptedException {
            jdbc.update("update " + schema + ".lease set expires_at = acquired_at where name = 'lost'");
            new CountDownLatch(1).await();
        }

        public CountDownLatch begun() {
            return begun;
        }
    }

    /** Keeps the bean that it gets, to call its methods later, as what listens to Kafka and RabbitMQ does. */
    static class Listening implements BeanPostProcessor, Ordered {
        private @Nullable Object kept;

        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            if (AopUtils.getTargetClass(bean) == Working.class) {
                kept = bean;
            }
            return bean;
        }

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Working.class)
    static class WithListeners extends Plain {
        @Bean
        static Listening listening() {
            return new Listening();
        }
    }

    @Test
    void aMethodEndsAsItsWorkDoesAndItsLeaseIsGivenBack() throws Exception {
        try (ConfigurableApplicationContext context = start(WithListeners.class)) {
            Working working = context.getBean(Working.class);
            assertThat(context.getBean(Listening.class).kept)
                    .as("what others call")
                    .isSameAs(working);

            assertThatThrownBy(working::fail).isInstanceOf(IOException.class).hasMessage("the disk is full");
            assertThat(lease(context, "fails")).isPresent();

            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread thread = new Thread(() -> thrown.set(catchThrowable(working::await)));
            thread.start();
            working.begun().await();
            thread.interrupt();
            thread.join();
            assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
            assertThat(lease(context, "waits")).isPresent();

            assertThatThrownBy(working::lose)
                    .isInstanceOf(LostLeaseException.class)
                    .hasCauseInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    private static Optional<Lease> lease(ConfigurableApplicationContext context, String name) {
        return context.getBean(Leases.class).tryAcquire(name, Duration.ofSeconds(30));
    }

    private static ConfigurableApplicationContext start(Class<?>... classes) {
        return Contexts.startAll(List.of(classes));
    }

    private static void refused(String why, Class<?>... classes) {
        assertThatThrownBy(() -> start(classes).close()).hasStackTraceContaining(why);
    }
}
