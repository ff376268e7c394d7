package dev.windlass.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.HandlerOptions;
import dev.windlass.Logs;
import dev.windlass.OwnerToken;
import dev.windlass.RetryPolicy;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import java.time.Duration;
import java.util.List;
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
    void payloadsAndHeadersNeverReachALogWhateverHappensToTheMessage() throws Exception {
        try (Logs logs = Logs.collect(Level.TRACE)) {
            HandlerOptions once = HandlerOptions.defaults()
                    .withRetry(RetryPolicy.defaults().withMaxAttempts(2).withBase(Duration.ofMillis(1)));
            Windlass windlass = database.start(database.windlass().outboxHandler("pay", once, message -> {
                if (message.retryCount() == 0) {
                    throw new IllegalStateException("try again");
                }
            }));
            windlass.outbox().enqueue(ENTRY);
            windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, ENTRY));
            windlass.outbox().enqueueAll(List.of(ENTRY, ENTRY));
            eventually().until(() -> database.count("status = 2 and retry_count = 1") == 4);
            Outbox byHand = database.passive().outbox();
            byHand.enqueue(new OutboxEntry("other", SECRET, null, Map.of(), null, null, null));
            OwnerToken owner = OwnerToken.fresh();
            List<OutboxWorkItemIdentifier> ids = byHand.claim(owner, Duration.ofMinutes(1), 10).stream()
                    .map(OutboxMessage::id)
                    .toList();
            byHand.fail(owner, ids, "refused");

            assertThat(logs.lines()).isNotEmpty().noneMatch(line -> line.text().contains(SECRET));
        }
    }

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
