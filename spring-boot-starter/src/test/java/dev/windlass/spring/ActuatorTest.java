package dev.windlass.spring;

import static dev.windlass.spring.Contexts.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.info.InfoEndpoint;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.CompositeHealthDescriptor;
import org.springframework.boot.health.actuate.endpoint.HealthDescriptor;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.actuate.endpoint.IndicatedHealthDescriptor;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** What Actuator shows of Windlass. */
final class ActuatorTest {
    private static final String[] PROBES = {
        "management.endpoints.web.exposure.include=*", "management.endpoint.health.show-details=always"
    };

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    private static ConfigurableApplicationContext start(String... properties) {
        String[] all = Arrays.copyOf(PROBES, PROBES.length + properties.length);
        System.arraycopy(properties, 0, all, PROBES.length, properties.length);
        return Contexts.start(Application.class, all);
    }

    private static Set<String> members(ConfigurableApplicationContext context, String... path) {
        HealthDescriptor found = context.getBean(HealthEndpoint.class).healthForPath(path);
        return Objects.requireNonNull(((CompositeHealthDescriptor) Objects.requireNonNull(found)).getComponents())
                .keySet();
    }

    private static IndicatedHealthDescriptor health(ConfigurableApplicationContext context, String... path) {
        return (IndicatedHealthDescriptor)
                Objects.requireNonNull(context.getBean(HealthEndpoint.class).healthForPath(path));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> in(Map<String, Object> all, String key) {
        return (Map<String, Object>) Objects.requireNonNull(all.get(key));
    }

    @Test
    void healthHasTheWholeReportAndTheProbesHaveTheirPart() {
        try (ConfigurableApplicationContext context = start()) {
            eventually().until(() -> context.getBean(Windlass.class).isRunning());
            assertThat(members(context)).contains("windlass").doesNotContain("windlassLiveness", "windlassReadiness");
            assertThat(members(context, "liveness")).contains("livenessState", "windlassLiveness");
            assertThat(members(context, "readiness")).contains("readinessState", "windlassReadiness");

            IndicatedHealthDescriptor all = health(context, "windlass");
            assertThat(all.getStatus()).isEqualTo(Status.UP);
            assertThat(all.getDetails()).containsKeys("database", "schema", "loops", "backlog");
            assertThat(health(context, "liveness", "windlassLiveness").getDetails())
                    .containsKey("loops")
                    .doesNotContainKey("database");
            assertThat(health(context, "readiness", "windlassReadiness").getDetails())
                    .containsKey("database");
        }
    }

    @Test
    void aGroupThatTheApplicationDescribesStaysAsItIs() {
        try (ConfigurableApplicationContext context =
                start("management.endpoint.health.group.readiness.include=readinessState")) {
            assertThat(members(context, "readiness")).containsExactly("readinessState");
            assertThat(members(context, "liveness")).contains("windlassLiveness");
        }
    }

    @Test
    void soDoesAGroupThatIsDescribedByWhatItLeavesOutAsAList() {
        try (ConfigurableApplicationContext context =
                start("management.endpoint.health.group.readiness.exclude[0]=windlassReadiness")) {
            assertThat(members(context, "readiness")).contains("ping").doesNotContain("windlassReadiness");
        }
    }

    @Test
    void healthOfWindlassCanBeSwitchedOff() {
        try (ConfigurableApplicationContext context = start("management.health.windlass.enabled=false")) {
            assertThat(members(context)).doesNotContain("windlass");
            assertThat(members(context, "readiness")).containsExactly("readinessState");
        }
    }

    @Test
    void theEndpointTellsWhatIsInTheQueues() {
        try (ConfigurableApplicationContext context = start("windlass.name=orders", "windlass.workers=false")) {
            context.getBean(Outbox.class).enqueue(OutboxEntry.of("nobody.handles.this", "x"));
            WindlassEndpoint endpoint = context.getBean(WindlassEndpoint.class);
            Map<String, Object> store = in(in(endpoint.stores(), "stores"), "orders");
            Map<String, Object> queues = in(store, "queues");
            assertThat(queues).containsKeys("outbox", "inbox", "timers", "work");
            assertThat(in(queues, "outbox")).containsEntry("ready", 1L).containsEntry("failed", 0L);
            assertThat(endpoint.store("orders")).isEqualTo(store);
            assertThat(endpoint.store("others")).isNull();
        }
    }

    @Test
    void theEndpointTellsOfSeveralDatabasesWhichThereAre() {
        EmbeddedPostgres server = EmbeddedPostgres.shared();
        try (ConfigurableApplicationContext context = start(
                "windlass.stores.one.url=" + server.jdbcUrl(),
                "windlass.stores.one.username=" + server.user(),
                "windlass.stores.one.password=" + server.password(),
                "windlass.stores.gone.url=" + server.jdbcUrl() + "_that_is_gone",
                "windlass.stores.gone.username=" + server.user(),
                "windlass.stores.gone.password=" + server.password())) {
            WindlassEndpoint endpoint = context.getBean(WindlassEndpoint.class);
            Map<String, Object> stores = in(endpoint.stores(), "stores");
            assertThat(in(stores, "one")).containsEntry("status", "open");
            assertThat(in(stores, "gone")).containsEntry("status", "failed").containsKey("problem");
            assertThat(endpoint.store("one")).containsEntry("running", true).containsKey("queues");
            assertThat(endpoint.store("gone")).doesNotContainKey("queues");
            assertThat(health(context, "windlass").getStatus()).isEqualTo(Status.UP);
            assertThat(health(context, "windlass").getDetails().toString())
                    .contains("1 of 2 stores")
                    .doesNotContain(server.password() + "@");
        }
    }

    @Test
    void theEndpointCallsAwayWhatHealthCallsAway() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start();
                ConfigurableApplicationContext context = start(
                        "windlass.health.cache-for=1ms",
                        "windlass.stores.leaving.url=" + server.jdbcUrl(),
                        "windlass.stores.leaving.username=" + server.user(),
                        "windlass.stores.leaving.password=" + server.password(),
                        "windlass.stores.never.url=jdbc:postgresql://localhost:1/never")) {
            WindlassEndpoint endpoint = context.getBean(WindlassEndpoint.class);
            Map<String, Object> stores = in(endpoint.stores(), "stores");
            assertThat(in(stores, "leaving")).containsEntry("status", "open").doesNotContainKey("problem");
            assertThat(in(stores, "never"))
                    .containsEntry("status", "away")
                    .containsEntry("problem", "its database does not answer");

            server.stop();

            eventually()
                    .untilAsserted(() -> assertThat(in(in(endpoint.stores(), "stores"), "leaving"))
                            .containsEntry("status", "away")
                            .containsEntry("problem", "its database does not answer"));
            assertThat(health(context, "windlass").getDetails().toString()).contains("leaving, never");
        }
    }

    @Test
    void infoAndMetersAreThereWithoutConfiguration() {
        try (ConfigurableApplicationContext context = start("windlass.schema=" + Contexts.newSchema())) {
            assertThat(context.getBean(InfoEndpoint.class).info()).containsKey("windlass");
            eventually()
                    .until(() -> context.getBean(MeterRegistry.class)
                                    .find("windlass.queue.ready")
                                    .gauge()
                            != null);
        }
    }
}
