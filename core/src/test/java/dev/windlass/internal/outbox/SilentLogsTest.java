package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Told;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassException;
import dev.windlass.outbox.OutboxEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class SilentLogsTest {
    private static final String SECRET = "s3cr3t";

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static OutboxEntry secret(String topic) {
        return OutboxEntry.of(topic, "payload " + SECRET).withHeaders(Map.of("name " + SECRET, "value " + SECRET));
    }

    @Test
    @Shows("OBX-125")
    void payloadsAndHeadersReachNoLogWhateverHappens() throws Exception {
        RetryPolicy twice = new RetryPolicy(2, Duration.ofMillis(1), Duration.ofMillis(1), 0);
        HandlerOptions options = HandlerOptions.defaults().withRetry(twice).withTimeout(Duration.ofMillis(200));
        try (Logs logs = Logs.collect(Level.TRACE)) {
            Windlass windlass = database.start(database.windlass()
                    .outbox(database.shortLease())
                    .outboxHandler("done", message -> {})
                    .outboxHandler("typed", Long.class, (payload, message) -> {})
                    .outboxHandler("failing", options, message -> {
                        throw new IllegalStateException("cannot handle " + message);
                    })
                    .outboxHandler("failed", options, message -> {
                        throw new PermanentFailure("refused " + message);
                    })
                    .outboxHandler("slow", options, message -> new CountDownLatch(1).await()));
            for (String topic : List.of("done", "typed", "failing", "failed", "slow", "unknown")) {
                windlass.outbox().enqueue(secret(topic));
                windlass.outbox().enqueueAll(List.of(secret(topic), secret(topic)));
            }
            windlass.outbox().enqueue(secret("done").withExpiresAt(Instant.EPOCH));
            database.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name <> ''"
                    + " and usename = 'windlass_runtime'");
            refusedByTheDatabase(windlass);
            eventually().until(() -> database.count("status in (0, 1) and topic <> 'unknown'") == 0);
            assertThat(database.count("status = 2")).isEqualTo(3);
            assertThat(database.count("status = 3")).isEqualTo(13);
            assertThat(logs.lines()).hasSizeGreaterThan(30);
            assertThat(logs.lines())
                    .filteredOn(line -> line.text().contains(SECRET))
                    .isEmpty();
        }
    }

    /** A constraint's error quotes the row; not even the caller is told that, who may log what it catches. */
    private static void refusedByTheDatabase(Windlass windlass) throws Exception {
        database.execute("alter table %s.outbox add constraint no_bait check (topic <> 'bait')");
        try {
            windlass.outbox().enqueue(secret("bait"));
            throw new AssertionError("expected the constraint to refuse the row");
        } catch (WindlassException e) {
            assertThat(Told.by(e)).contains("no_bait").doesNotContain(SECRET);
        } finally {
            database.execute("alter table %s.outbox drop constraint no_bait");
        }
    }
}
