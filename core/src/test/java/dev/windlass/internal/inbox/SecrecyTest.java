package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.SeenMessage;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a message carries is nobody's business but its handler's. */
final class SecrecyTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String SECRET = "4111-1111-1111-1111";

    @Test
    void payloadsReachNoLogAndNoText() {
        InboxEntry entry = InboxEntry.of("orders", "1", "pay", SECRET)
                .withHeaders(Map.of("card", SECRET))
                .withHash(ContentHash.of(SECRET));
        try (Logs logs = Logs.collect(Level.TRACE)) {
            Inbox inbox = database.passive().inbox();
            inbox.enqueue(entry);
            inbox.enqueue(entry.withHash(ContentHash.of("other")));
            InboxMessage message =
                    inbox.claim(OwnerToken.fresh(), Duration.ofMinutes(1), 1).get(0);
            SeenMessage seen = inbox.find("orders", "1").orElseThrow();
            assertThat(seen.payload()).contains(SECRET);
            assertThat(entry + " " + message + " " + seen).contains("pay").doesNotContain(SECRET);
            assertThat(logs.lines()).isNotEmpty().noneMatch(line -> line.text().contains(SECRET));
        }
    }
}
