package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import dev.windlass.base.RetryPolicy;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class RetryTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    record Order(int number, String customer) {}

    private static HandlerOptions retrying(RetryPolicy policy) {
        return HandlerOptions.defaults().withRetry(policy);
    }

    private static RetryPolicy quick(int attempts) {
        return new RetryPolicy(attempts, Duration.ofMillis(1), Duration.ofMillis(10), 0);
    }

    private static void failing(RetryPolicy policy, String payload) {
        OutboxHandler.Simple broken = message -> {
            throw new IllegalStateException("broken");
        };
        Windlass windlass = database.start(database.windlass().outboxHandler("a", retrying(policy), broken));
        windlass.outbox().enqueue(OutboxEntry.of("a", payload));
    }

    private static double secondsToNextAttempt() {
        return database.value(
                Double.class,
                "select extract(epoch from next_attempt_at - clock_timestamp())::float8 from %s.outbox where topic = 'a'");
    }

    @Test
    @Shows("OBX-056")
    void aFailedAttemptIsRepeatedUntilOneSucceeds() {
        AtomicInteger calls = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().outboxHandler("a", retrying(quick(10)), message -> {
            if (calls.incrementAndGet() < 4) {
                throw new IllegalStateException("attempt " + message.retryCount());
            }
        }));
        OutboxMessageIdentifier id = windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> windlass.outbox().find(id).orElseThrow().isProcessed());
        OutboxMessage message = windlass.outbox().find(id).orElseThrow();
        assertThat(calls.get()).isEqualTo(4);
        assertThat(message.retryCount()).isEqualTo(3);
        assertThat(message.lastError()).hasValue("java.lang.IllegalStateException: attempt 2");
    }

    @Test
    @Shows({"OBX-061", "OBX-062"})
    void thePauseDoublesWithEveryFailure() throws Exception {
        failing(new RetryPolicy(10, HOUR, Duration.ofHours(3), 0), "x");
        for (int retry = 1; retry <= 3; retry++) {
            int failures = retry;
            eventually().until(() -> database.count("status = 0 and retry_count = " + failures) == 1);
            double hours = Math.min(1 << (retry - 1), 3);
            assertThat(secondsToNextAttempt()).isBetween(hours * 3600 - 60, hours * 3600);
            database.execute("update %s.outbox set next_attempt_at = clock_timestamp()");
            database.start(database.windlass().outboxHandler("b", message -> {}))
                    .outbox()
                    .enqueue(OutboxEntry.of("nobody", "announced, so that the first node looks"));
        }
    }

    @Test
    @Shows("OBX-063")
    void thePauseIsThatOfTheTopicsPolicyOrElseOfTheOutboxs() {
        OutboxHandler.Simple broken = message -> {
            throw new IllegalStateException("broken");
        };
        RetryPolicy hours = new RetryPolicy(10, HOUR, Duration.ofDays(1), 0);
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withHandlers(retrying(hours)))
                .outboxHandler("outbox's", broken)
                .outboxHandler("own", retrying(hours.withBase(Duration.ofHours(5))), broken));
        windlass.outbox().enqueue(OutboxEntry.of("outbox's", "x"));
        windlass.outbox().enqueue(OutboxEntry.of("own", "x"));

        eventually().until(() -> failures() == 2);
        assertThat(pause("min", "outbox's")).isBetween(3590.0, 3600.0);
        assertThat(pause("min", "own")).isBetween(5 * 3600.0 - 10, 5 * 3600.0);
    }

    @Test
    @Shows("OBX-062")
    void messagesThatFailTogetherComeBackSpreadOverTheLastFifthOfTheirPause() throws Exception {
        OutboxHandler.Simple broken = message -> {
            throw new IllegalStateException("broken");
        };
        database.passive().outbox().enqueueAll(Collections.nCopies(60, OutboxEntry.of("a", "x")));
        database.execute(
                "update %s.outbox set retry_count = 7"); // after which it is a minute, long enough to be looked at
        database.start(database.windlass().outboxHandler("a", broken));

        eventually().until(() -> failures() == 60);
        assertThat(pause("min", "a")).isBetween(47.0, 52.0);
        assertThat(pause("max", "a")).isBetween(56.0, 60.0);
    }

    private static long failures() {
        return database.value(Long.class, "select count(*) from %s.outbox_failure");
    }

    /** The shortest or longest pause of a topic, which its failure was followed by in the database. */
    private static double pause(String which, String topic) {
        return database.value(
                Double.class,
                "select " + which + "(extract(epoch from m.next_attempt_at - f.failed_at))::float8"
                        + " from %s.outbox m join %s.outbox_failure f on f.message_id = m.id where m.topic = ?",
                topic);
    }

    @Test
    @Shows({"OBX-064", "OBX-065"})
    void afterTheLastAttemptTheMessageHasFailedWithItsLastError() {
        failing(quick(3), "x");
        eventually().until(() -> database.count("status = 3") == 1);
        assertThat(database.value(Integer.class, "select retry_count from %s.outbox"))
                .isEqualTo(2);
        assertThat(database.value(String.class, "select last_error from %s.outbox"))
                .isEqualTo("java.lang.IllegalStateException: broken");
    }

    @Test
    @Shows("OBX-105")
    void aHandlersExceptionIsLoggedAsErrorWithTheMessageId() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            failing(quick(1), "x");
            eventually().until(() -> database.count("status = 3") == 1);
            String id = database.value(String.class, "select id::text from %s.outbox");
            assertThat(logs.at(Level.ERROR))
                    .singleElement()
                    .asString()
                    .contains(id, "of topic a", "attempt 1", "IllegalStateException: broken", "RetryTest.java");
        }
    }

    @Test
    @Shows("OBX-056")
    void aPermanentFailureIsNotRepeated() {
        AtomicInteger calls = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> {
            calls.incrementAndGet();
            throw new PermanentFailure("no such customer");
        }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("status = 3 and last_error like '%no such customer'") == 1);
        assertThat(calls.get()).isEqualTo(1);
    }

    @Test
    void aHandlerChoosesWhenToTryAgain() {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> {
            throw new RetryAfter(HOUR, "closed for lunch");
        }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("status = 0 and retry_count = 1") == 1);
        assertThat(secondsToNextAttempt()).isBetween(3540.0, 3600.0);
    }

    @Test
    void theReasonOfARetryAfterIsLogged() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = database.start(database.windlass()
                    .outboxHandler("told", message -> {
                        throw new RetryAfter(HOUR, "closed for lunch");
                    })
                    .outboxHandler("caused", message -> {
                        throw new RetryAfter(HOUR, new IllegalStateException("the kitchen burns"));
                    }));
            windlass.outbox().enqueue(OutboxEntry.of("told", "x"));
            windlass.outbox().enqueue(OutboxEntry.of("caused", "x"));
            eventually().until(() -> database.count("status = 0 and retry_count = 1") == 2);
            assertThat(logs.at(Level.INFO))
                    .filteredOn(line -> line.contains("of topic told"))
                    .singleElement()
                    .asString()
                    .contains("put it off, again in 1 h: closed for lunch");
            assertThat(logs.at(Level.INFO))
                    .filteredOn(line -> line.contains("of topic caused"))
                    .singleElement()
                    .asString()
                    .contains("put it off", "the kitchen burns", "RetryTest.java");
            assertThat(logs.at(Level.ERROR)).isEmpty();
        }
    }

    @Test
    void retryAfterCountsAsAnAttempt() {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", retrying(quick(2)), message -> {
            throw new RetryAfter(Duration.ZERO, "closed for lunch");
        }));
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        eventually().until(() -> database.count("status = 3 and retry_count = 1") == 1);
    }

    @Test
    void typedPayloadsArriveDecoded() {
        Queue<Order> orders = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(
                database.windlass().outboxHandler("a", Order.class, (order, message) -> orders.add(order)));
        windlass.outbox().enqueue(windlass.outbox().entry("a", new Order(7, "Ada \"L\"")));
        eventually().until(() -> database.count("status = 2") == 1);
        assertThat(orders).containsExactly(new Order(7, "Ada \"L\""));
    }

    @Test
    void aPayloadThatCannotBeDecodedFailsAtOnceAndIsNotShown() {
        Queue<Order> orders = new ConcurrentLinkedQueue<>();
        try (Logs logs = Logs.collect(Level.TRACE)) {
            Windlass windlass = database.start(
                    database.windlass().outboxHandler("a", Order.class, (order, message) -> orders.add(order)));
            for (String payload :
                    new String[] {"hidden", "{\"number\":\"hidden\"}", "[\"hidden\"]", "\"hidden\"", "null"}) {
                windlass.outbox().enqueue(OutboxEntry.of("a", payload));
            }
            eventually().until(() -> database.count("status = 3 and retry_count = 0") == 5);
            assertThat(orders).isEmpty();
            assertThat(logs.lines())
                    .filteredOn(line -> line.text().contains("hidden"))
                    .isEmpty();
            assertThat(database.count("last_error like '%hidden%'")).isZero();
        }
    }
}
