package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;

/** Applications without a web server, each in a process of its own. */
final class ProcessTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    static class Worker {
        private static Thread main = Thread.currentThread();
        private final CountDownLatch ending = new CountDownLatch(1);

        public static void main(String[] arguments) {
            main = Thread.currentThread();
            SpringApplication.run(Worker.class, arguments);
            System.out.println("started");
        }

        @OnOutbox("after.main")
        void afterMain() throws InterruptedException {
            main.join();
        }

        @OnOutbox("until.the.end")
        void untilTheEnd() throws InterruptedException {
            System.out.println("begun");
            ending.await();
        }

        @EventListener
        void end(ContextClosedEvent event) {
            ending.countDown();
        }
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName()));
        command.addAll(List.of(Contexts.arguments(arguments)));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static String await(String line, BufferedReader output) throws IOException {
        String next = output.readLine();
        while (next != null && !next.equals(line)) {
            next = output.readLine();
        }
        return String.valueOf(next);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    static class Writer {}

    @Test
    void aProcessThatHandlesMessagesStaysUntilItIsToldToEnd() throws Exception {
        String schema = "windlass.schema=" + Contexts.newSchema();
        try (ConfigurableApplicationContext context =
                Contexts.startWith(Writer.class, schema, "windlass.ensure-schema=true", "windlass.workers=false")) {
            Outbox outbox = context.getBean(Outbox.class);
            Process process = start(schema);
            try (BufferedReader output = process.inputReader()) {
                assertThat(await("started", output)).isEqualTo("started");
                for (int handled = 1; handled <= 3; handled++) {
                    long all = handled;
                    outbox.enqueue(OutboxEntry.of("after.main", ""));
                    eventually().until(() -> count(context, "outbox where status = 2") == all || !process.isAlive());
                }
                outbox.enqueue(OutboxEntry.of("until.the.end", ""));
                assertThat(await("begun", output)).isEqualTo("begun");

                process.destroy();

                eventually().until(() -> !process.isAlive());
                assertThat(process.exitValue()).as("the exit code of SIGTERM").isEqualTo(128 + 15);
                assertThat(count(context, "outbox where status = 2")).isEqualTo(4);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void aProcessThatOnlyWritesEndsWithItsWork() throws Exception {
        Process process = start(
                "windlass.schema=" + Contexts.newSchema(), "windlass.ensure-schema=true", "windlass.workers=false");
        try (BufferedReader output = process.inputReader()) {
            assertThat(await("started", output)).isEqualTo("started");
            eventually().until(() -> !process.isAlive());
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
