package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.base.PermanentFailure;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.File;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

final class MonitoringRecipesTest {
    private final EmbeddedPostgres server = EmbeddedPostgres.shared();

    @Test
    void aPagerHearsOfDeadLetters() {
        Queue<String> pages = new ConcurrentLinkedQueue<>();
        try (Windlass windlass = MonitoringRecipes.deadLetterAlert(Windlass.on(server.dataSource()), pages::add)
                .ensureSchema()
                .outboxHandler("doomed", message -> {
                    throw new PermanentFailure("no such customer");
                })
                .start()) {
            windlass.outbox().enqueue(OutboxEntry.of("doomed", "x"));
            await().until(() -> !pages.isEmpty());
        }
        assertThat(pages).singleElement().asString().contains("of topic doomed", "no such customer");
    }

    @Test
    void aNodeTellsHowItIsAndWhatItMeasures() throws Exception {
        Windlass.on(server.dataSource()).migrator().migrate();
        assertThat(MonitoringRecipes.health(Windlass.on(server.dataSource()), new File(".")))
                .isEqualTo("well");
        MonitoringRecipes.traces(server.dataSource(), ObservationRegistry.create())
                .close();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Windlass windlass = MonitoringRecipes.metrics(server.dataSource(), registry)) {
            windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
            await().until(() -> registry.find("windlass.enqueued").counter() != null);
        }
    }
}
