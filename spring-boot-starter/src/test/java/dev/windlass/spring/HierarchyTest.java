package dev.windlass.spring;

import static dev.windlass.spring.Contexts.count;
import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.lease.Lease;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.Router;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ResolvableType;
import org.springframework.jdbc.core.JdbcTemplate;

/** A context and its child, both with the starter: the child uses the Windlass of its parent. */
final class HierarchyTest {

    @OutboxEvent("order.paid")
    record Paid(String order) {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class})
    static class Plain {}

    static class Parent extends Plain {
        final Queue<Object> handled = new ConcurrentLinkedQueue<>();

        @OnOutbox("order.paid")
        void paid(Paid event) {
            handled.add(event);
        }
    }

    @Import(Cleaning.class)
    static class Child extends Plain {}

    static class Cleaning {
        private int cleaned;

        @UnderLease("clean")
        public void clean() {
            cleaned++;
        }

        public int cleaned() {
            return cleaned;
        }
    }

    private static ConfigurableApplicationContext startChild(Class<?> child, String... properties) {
        return new SpringApplicationBuilder(Parent.class)
                .web(WebApplicationType.NONE)
                .child(child)
                .web(WebApplicationType.NONE)
                .run(Contexts.arguments(properties));
    }

    private static String[] newSchema() {
        return new String[] {"windlass.schema=" + Contexts.newSchema(), "windlass.ensure-schema=true"};
    }

    private static ConfigurableApplicationContext parentOf(ConfigurableApplicationContext child) {
        return (ConfigurableApplicationContext) Objects.requireNonNull(child.getParent());
    }

    @Test
    void aChildUsesTheWindlassOfItsParentAndLeavesItRunning() {
        ConfigurableApplicationContext child = startChild(Child.class, newSchema());
        try (ConfigurableApplicationContext parent = parentOf(child)) {
            Windlass windlass = parent.getBean(Windlass.class);
            assertThat(child.getBean(Windlass.class)).isSameAs(windlass);

            child.publishEvent(new Paid("1"));
            assertThat(count(parent, "outbox")).isOne();
            child.close();

            assertThat(windlass.isRunning()).isTrue();
            Queue<Object> handled = parent.getBean(Parent.class).handled;
            eventually().untilAsserted(() -> assertThat(handled).containsExactly(new Paid("1")));
        }
    }

    @Test
    void methodsOfAChildRunUnderTheirLease() {
        ConfigurableApplicationContext child = startChild(Child.class, newSchema());
        try (ConfigurableApplicationContext parent = parentOf(child)) {
            Cleaning cleaning = child.getBean(Cleaning.class);
            try (Lease held = parent.getBean(Leases.class)
                    .tryAcquire("clean", Duration.ofSeconds(30))
                    .orElseThrow()) {
                cleaning.clean();
                assertThat(held.fencingToken()).isPositive();
                assertThat(cleaning.cleaned()).isZero();
            }
            cleaning.clean();
            assertThat(cleaning.cleaned()).isOne();
            child.close();
        }
    }

    static class ChildWithHandler extends Plain {
        @OnOutbox("order.placed")
        void placed(String order) {}
    }

    @Test
    void aHandlerThatTheWindlassOfTheParentCannotKnowIsRefused() {
        assertThatThrownBy(() -> startChild(ChildWithHandler.class, newSchema()))
                .hasStackTraceContaining(
                        "ChildWithHandler\" handles messages, but the Windlass of its context is a bean"
                                + " of the parent context, which knows no beans of its children");
    }

    static class ChildWithItsOwn extends Plain {
        @Bean
        Windlass own(DataSource source, @Value("${windlass.schema}_own") String schema) {
            return Windlass.on(source)
                    .options(WindlassOptions.defaults().withSchemaName(schema))
                    .ensureSchema()
                    .build();
        }
    }

    private static long ofItsOwn(ConfigurableApplicationContext parent) {
        String schema = parent.getEnvironment().getProperty("windlass.schema") + "_own";
        Long count = parent.getBean(JdbcTemplate.class)
                .queryForObject("select count(*) from " + schema + ".outbox", Long.class);
        return count == null ? 0 : count;
    }

    @Test
    void aChildWithAWindlassOfItsOwnWritesToThat() {
        ConfigurableApplicationContext child = startChild(ChildWithItsOwn.class, newSchema());
        try (ConfigurableApplicationContext parent = parentOf(child)) {
            Windlass own = child.getBean(Windlass.class);
            Windlass its = parent.getBean(Windlass.class);
            eventually().until(own::isRunning);

            child.getBean(Outbox.class).enqueue(OutboxEntry.of("other", "of the child"));
            Paid event = new Paid("of the child");
            child.publishEvent(event);
            assertThat(count(parent, "outbox")).isZero();
            assertThat(ofItsOwn(parent)).isEqualTo(2);

            parent.publishEvent(event);
            assertThat(count(parent, "outbox")).isOne();
            assertThat(ofItsOwn(parent)).isEqualTo(2);
            child.close();

            assertThat(own.isRunning()).isFalse();
            assertThat(its.isRunning()).isTrue();
        }
    }

    @Test
    void aChildLeavesTheFleetOfItsParentRunning() {
        String[] stores = {
            "windlass.stores.north.data-source=dataSource",
            "windlass.stores.north.schema=" + Contexts.newSchema(),
            "windlass.ensure-schema=true"
        };
        ConfigurableApplicationContext child = startChild(Plain.class, stores);
        try (ConfigurableApplicationContext parent = parentOf(child)) {
            assertThat(child.getBean(Fleet.class)).isSameAs(parent.getBean(Fleet.class));
            Router<Outbox> outboxes = child.<Router<Outbox>>getBeanProvider(
                            ResolvableType.forClassWithGenerics(Router.class, Outbox.class))
                    .getObject();

            child.close();

            Outbox outbox = outboxes.get("north");
            outbox.enqueue(outbox.entry("order.paid", new Paid("2")));
            Queue<Object> handled = parent.getBean(Parent.class).handled;
            eventually().untilAsserted(() -> assertThat(handled).containsExactly(new Paid("2")));
        }
    }
}
