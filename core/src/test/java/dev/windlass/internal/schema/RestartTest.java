package dev.windlass.internal.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import org.junit.jupiter.api.Test;

/** A server that dies right after a message was written. */
final class RestartTest {

    @Test
    @Shows({"OBX-001", "OBX-002"})
    void aMessageSurvivesTheServerThatIsKilledAndSoDoesTheSchema() {
        try (EmbeddedPostgres server =
                EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withFsync(true))) {
            WindlassBuilder builder = Windlass.on(server.dataSource()).ensureSchema();
            OutboxMessageIdentifier id;
            try (Windlass windlass = builder.start()) {
                id = windlass.outbox().enqueue(OutboxEntry.of("topic", "kept"));
                server.kill();
                server.restart();
                assertThat(windlass.outbox().find(id)).isPresent();
            }
            assertThat(builder.migrator().pendingSql()).isEmpty();
            try (Windlass windlass = builder.start()) {
                assertThat(windlass.outbox().find(id).orElseThrow().status()).isEqualTo(WorkStatus.READY);
            }
        }
    }
}
