package dev.windlass.spring;

import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Jobs;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;

/** What happens around an application: other ones, other threads, a database that goes away, a restart in the same process. */
final class SurroundingsTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Shop {
        final Queue<String> handled = new ConcurrentLinkedQueue<>();
        final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        final CountDownLatch begun = new CountDownLatch(1);

        @OnOutbox("a")
        void handle(String payload) {
            handled.add(payload);
            threads.add(Thread.currentThread());
        }

        @OnOutbox("endless")
        void endless(String payload) throws InterruptedException {
            begun.countDown();
            new CountDownLatch(1).await();
        }
    }

    private static boolean isVirtual(Thread thread) throws ReflectiveOperationException {
        return (boolean) Thread.class.getMethod("isVirtual").invoke(thread);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void handlersRunOnVirtualThreads() throws Exception {
        try (ConfigurableApplicationContext context =
                Contexts.start(Shop.class, "spring.threads.virtual.enabled=true")) {
            Shop shop = context.getBean(Shop.class);

            context.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "1"));

            eventually().untilAsserted(() -> assertThat(shop.threads).hasSize(1));
            assertThat(isVirtual(shop.threads.element())).isTrue();
        }
    }

    @Test
    void twoContextsShareTheWorkOfOneDatabase() {
        String[] both = {"windlass.schema=" + Contexts.newSchema(), "windlass.ensure-schema=true"};
        try (ConfigurableApplicationContext second = Contexts.startWith(Shop.class, both)) {
            Shop itsShop = second.getBean(Shop.class);
            try (ConfigurableApplicationContext first = Contexts.startWith(Shop.class, both)) {
                List<Shop> shops = List.of(first.getBean(Shop.class), itsShop);
                for (int i = 0; i < 10; i++) {
                    first.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "first " + i));
                    second.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "second " + i));
                }
                eventually().untilAsserted(() -> assertThat(handledBy(shops)).hasSize(20));
                assertThat(handledBy(shops)).doesNotHaveDuplicates();
            }

            second.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "the other is gone"));
            eventually().untilAsserted(() -> assertThat(itsShop.handled).contains("the other is gone"));
            assertThat(second.getBean(Windlass.class).isRunning()).isTrue();
        }
    }

    private static List<String> handledBy(List<Shop> shops) {
        List<String> all = new ArrayList<>();
        shops.forEach(shop -> all.addAll(shop.handled));
        return all;
    }

    /** Of Windlass, as they are named. */
    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().toLowerCase(Locale.ROOT).contains("windlass"))
                .collect(Collectors.toSet());
    }

    @Test
    void aContextCanBeClosedWhileTheDatabaseIsAway() throws Exception {
        Set<Thread> before = threads();
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            ConfigurableApplicationContext context = new OwnDatabase(server, "postgres")
                    .start(
                            Shop.class,
                            "windlass.ensure-schema=true",
                            "windlass.shutdown-grace=1s",
                            "spring.datasource.hikari.connection-timeout=1000");
            context.getBean(Outbox.class).enqueue(OutboxEntry.of("endless", "1"));
            context.getBean(Shop.class).begun.await();
            assertThat(threads()).hasSizeGreaterThan(before.size());
            server.stop();

            context.close();

            assertThat(context.isActive()).isFalse();
            eventually().untilAsserted(() -> assertThat(threads()).isSubsetOf(before));
        }
    }

    /** Nothing else needs it at the start. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    static class PatientShop extends Shop {}

    @Test
    void anApplicationStartsWithoutItsDatabaseAndWorksWhenThatIsThere() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
            OwnDatabase database = new OwnDatabase(server, "postgres");
            database.start(PatientShop.class, "windlass.ensure-schema=true").close();
            server.stop();
            try (ConfigurableApplicationContext context =
                    database.start(PatientShop.class, "spring.datasource.hikari.connection-timeout=1000")) {
                assertThat(context.getBean(Windlass.class).isRunning()).isFalse();

                server.restart();

                eventually().until(() -> context.getBean(Windlass.class).isRunning());
                context.getBean(Outbox.class).enqueue(OutboxEntry.of("a", "at last"));
                eventually()
                        .untilAsserted(() -> assertThat(context.getBean(PatientShop.class).handled)
                                .containsExactly("at last"));
            }
        }
    }

    /** Classes of the application are its own; all others are those of everybody. */
    private static final class Restart extends URLClassLoader {
        Restart() {
            super(
                    new URL[] {
                        RestartedShop.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                    },
                    RestartedShop.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(RestartedShop.class.getName())) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }

    @Test
    void anApplicationThatIsRestartedWithNewClassesLeavesNothingOfTheOldOnes() throws Exception {
        OwnDatabase database = OwnDatabase.create();
        Set<Thread> before = threads();
        List<Class<?>> types = new ArrayList<>();

        for (int start = 1; start <= 2; start++) {
            try (Restart classes = new Restart()) {
                types.add(runOnce(database, classes, before));
            }
        }

        assertThat(types)
                .doesNotHaveDuplicates()
                .extracting(Class::getSimpleName)
                .containsOnly("Purchase");
    }

    /** Returns the type of the payload that the handler got. */
    private static Class<?> runOnce(OwnDatabase database, Restart classes, Set<Thread> before) throws Exception {
        Thread current = Thread.currentThread();
        ClassLoader usual = current.getContextClassLoader();
        current.setContextClassLoader(classes);
        Object purchase;
        try (ConfigurableApplicationContext context = OwnDatabase.builder(
                        classes.loadClass(RestartedShop.class.getName()))
                .resourceLoader(new DefaultResourceLoader(classes))
                .run(database.arguments("windlass.ensure-schema=true"))) {
            Queue<?> heard = context.getBean("heard", Queue.class);
            context.getBean(Outbox.class).enqueue(OutboxEntry.of("purchase.made", "{\"id\":\"7\"}"));
            eventually().until(() -> heard.size() == 1);
            purchase = heard.element();
            context.getBean(Jobs.class).trigger("stock");
            eventually().until(() -> heard.contains("counted"));
        } finally {
            current.setContextClassLoader(usual);
        }
        assertThat(purchase.getClass().getClassLoader()).isSameAs(classes);
        eventually().untilAsserted(() -> assertThat(threads()).isSubsetOf(before));
        eventually()
                .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                        .as("threads that hold the classes of the application")
                        .noneMatch(thread -> thread.getContextClassLoader() == classes));
        return purchase.getClass();
    }
}
