package dev.windlass.internal.dispatch;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the log says of handlers that fail: one line for each attempt, and a stack trace when it tells something new. */
final class HandlerLogTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final HandlerOptions THREE_TIMES =
            HandlerOptions.defaults().withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(1), 0));

    @Test
    void everyFailedAttemptIsALineAndTheTraceComesOnceAndWithTheLast() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = database.start(database.windlass().outboxHandler("a", THREE_TIMES, message -> {
                throw new IllegalStateException("no such customer");
            }));
            OutboxMessageIdentifier id = windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> database.count("status = 3") == 1);

            List<String> errors = logs.at(Level.ERROR);
            assertThat(errors)
                    .hasSize(3)
                    .allSatisfy(line -> assertThat(line)
                            .startsWith("[windlass] message " + id.value() + " of topic a failed in attempt")
                            .contains("java.lang.IllegalStateException: no such customer"));
            assertThat(errors.get(0)).contains("attempt 1 of 3, again in 1 ms", "HandlerLogTest.java");
            assertThat(errors.get(1)).contains("attempt 2 of 3, again in 1 ms").hasLineCount(1);
            assertThat(errors.get(2)).contains("attempt 3 of 3, and is a dead letter now", "HandlerLogTest.java");
        }
    }

    @Test
    void attemptsThatAreTriedAgainCanBeWarnings() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = database.start(database.windlass()
                    .options(database.options().withRetriesAsWarnings(true))
                    .outboxHandler("a", THREE_TIMES, message -> {
                        throw new IllegalStateException("no");
                    }));
            windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> database.count("status = 3") == 1);

            assertThat(logs.count(Level.WARN, "failed in attempt")).isEqualTo(2);
            assertThat(logs.at(Level.ERROR)).singleElement().asString().contains("attempt 3 of 3");
        }
    }

    @Test
    void eachKindOfExceptionOfEachTopicIsTracedOnceAMinute() {
        AtomicLong now = new AtomicLong();
        Traces traces = new Traces(now::get);

        assertThat(due(traces, "a", "b", "a")).containsExactly(true, true, false);
        assertThat(traces.isDue("a", new IllegalStateException())).isTrue();
        now.addAndGet(Duration.ofSeconds(59).toNanos());
        assertThat(due(traces, "a")).containsExactly(false);
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(due(traces, "a", "a")).containsExactly(true, false);
    }

    private static List<Boolean> due(Traces traces, String... topics) {
        return Stream.of(topics)
                .map(topic -> traces.isDue(topic, new IllegalArgumentException()))
                .toList();
    }

    @Test
    void theStartSaysWhoWorksOnWhatAndTheEndWhatWasNotDone() {
        AtomicInteger begun = new AtomicInteger();
        try (Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = database.windlass()
                    .options(database.options().withNodeName("node 7").withShutdownGrace(Duration.ZERO))
                    .outboxHandler("mail", (message, cancellation) -> {
                        begun.incrementAndGet();
                        while (!cancellation.isCancelled()) {
                            Thread.sleep(5);
                        }
                    })
                    .inboxHandler("arrival", message -> {})
                    .start();
            windlass.outbox().enqueue(OutboxEntry.of("mail", "1"));
            eventually().until(() -> begun.get() == 1);
            windlass.close();

            assertThat(logs.count(
                            Level.INFO,
                            "started as node node 7 on schema " + database.schema() + "; it handles arrival, mail"))
                    .isEqualTo(1);
            assertThat(logs.at(Level.INFO))
                    .last()
                    .asString()
                    .endsWith("stopped; 1 handlers were asked to stop when their time was up");
        }
    }
}
