package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes here poll every ten minutes: what is handled was waited for. */
final class TimingTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<Boolean> due = new ConcurrentLinkedQueue<>();

    private Windlass node() {
        return database.start(database.windlass()
                .options(database.options().withMaxPollingInterval(LONG))
                .outbox(OutboxOptions.defaults().withPollingInterval(LONG))
                .outboxHandler("a", message -> due.add(isDue(message))));
    }

    private static boolean isDue(OutboxMessage message) throws SQLException {
        return database.value(
                Boolean.class,
                "select clock_timestamp() >= due_at from %s.outbox where id = ?",
                message.id().value());
    }

    @Test
    void delaysAreWaitedForAndNeverCutShort() {
        Windlass windlass = node();
        for (int i = 20; i > 0; i--) {
            windlass.outbox().enqueue(OutboxEntry.of("a", "x").withDelay(Duration.ofMillis(i * 40L)));
        }
        eventually().until(() -> due.size() == 20);
        assertThat(due).containsOnly(true);
    }

    @Test
    void aDueTimeIsWaitedForAndNeverCutShort() {
        Windlass windlass = node();
        Instant soon = database.value(OffsetDateTime.class, "select clock_timestamp()")
                .toInstant()
                .plusMillis(700);
        windlass.outbox().enqueue(OutboxEntry.of("a", "x").withDueTime(soon));
        eventually().until(() -> due.size() == 1);
        assertThat(due).containsOnly(true);
    }

    @Test
    void aDelayedMessageOfAnotherNodeIsWaitedForToo() {
        node();
        Windlass writer = database.passive();
        writer.outbox().enqueue(OutboxEntry.of("a", "x").withDelay(Duration.ofSeconds(1)));
        eventually().until(() -> due.size() == 1);
        assertThat(due).containsOnly(true);
    }

    @Test
    void aRetryIsWaitedForHoweverLongTheAttemptTook() {
        CountDownLatch idle = new CountDownLatch(1);
        HandlerOptions options = HandlerOptions.defaults()
                .withRetry(new RetryPolicy(10, Duration.ofMillis(50), Duration.ofMillis(50), 0));
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withMaxPollingInterval(LONG))
                .outbox(OutboxOptions.defaults().withPollingInterval(LONG))
                .outboxHandler("a", options, message -> {
                    idle.await();
                    if (message.retryCount() < 3) {
                        throw new IllegalStateException("not yet");
                    }
                    due.add(true);
                }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        // By then the claimer has looked for whatever else there is, and sleeps.
        eventually().until(() -> database.count("status = 1 and created_at < clock_timestamp() - interval '1 s'") == 1);
        idle.countDown();
        eventually().until(() -> due.size() == 1);
    }

    @Test
    void aMessageDueInThousandsOfYearsDisturbsNobody() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            Windlass windlass = node();
            windlass.outbox().enqueue(OutboxEntry.of("a", "x").withDueTime(Instant.parse("9999-12-30T00:00:00Z")));
            for (int i = 1; i <= 3; i++) {
                int expected = i;
                windlass.outbox().enqueue(OutboxEntry.of("a", "x").withDelay(Duration.ofMillis(100)));
                eventually().until(() -> due.size() == expected);
            }
            assertThat(logs.lines()).isEmpty();
        }
    }

    @Test
    void anExpiredMessageFailsUnhandled() {
        Windlass windlass = node();
        windlass.outbox().enqueue(OutboxEntry.of("a", "x").withExpiresAt(Instant.parse("2020-01-01T00:00:00Z")));
        database.start(database.windlass().outbox(database.shortLease()).outboxHandler("b", message -> {}));
        eventually().until(() -> database.count("status = 3 and last_error = 'expired before it was handled'") == 1);
        assertThat(due).isEmpty();
    }

    @Test
    void aMessageThatIsNotExpiredYetIsHandled() {
        Windlass windlass = node();
        windlass.outbox()
                .enqueue(OutboxEntry.of("a", "x")
                        .withDelay(Duration.ZERO)
                        .withExpiresAt(Instant.parse("2120-01-01T00:00:00Z")));
        eventually().until(() -> due.size() == 1);
    }
}
