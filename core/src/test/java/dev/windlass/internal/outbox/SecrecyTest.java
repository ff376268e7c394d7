package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a message carries is nobody's business but its handler's. */
final class SecrecyTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String SECRET = "4111-1111-1111-1111";
    private static final OutboxEntry ENTRY =
            OutboxEntry.of("pay", SECRET).withHeaders(Map.of("card", SECRET)).withCorrelationId("order 1");

    @Test
    @Shows("OBX-125")
    void whatIsPrintedOfAMessageLeavesItsPayloadOut() {
        Outbox outbox = database.passive().outbox();
        OutboxMessageIdentifier id = outbox.enqueue(ENTRY);

        assertThat(ENTRY.toString()).contains("pay", "order 1").doesNotContain(SECRET);
        assertThat(outbox.find(id).orElseThrow().toString())
                .contains("pay", id.value().toString())
                .doesNotContain(SECRET);
    }
}
