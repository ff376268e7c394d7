package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Cancellation;
import dev.windlass.base.WorkStatus;
import dev.windlass.event.WindlassEvent;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class RoutingTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private record Call(OutboxMessage message, Cancellation cancellation) {}

    private final Queue<String> a = new ConcurrentLinkedQueue<>();
    private final Queue<String> b = new ConcurrentLinkedQueue<>();

    @Test
    @Shows("OBX-054")
    void eachMessageGoesToTheHandlerOfItsTopic() {
        Windlass windlass = database.start(database.windlass()
                .outboxHandler("a", message -> a.add(message.payload()))
                .outboxHandler("A", message -> b.add(message.payload())));
        windlass.outbox()
                .enqueueAll(List.of(
                        OutboxEntry.of("a", "1"),
                        OutboxEntry.of("A", "2"),
                        OutboxEntry.of("a", "3"),
                        OutboxEntry.of("A", "4")));
        eventually().until(() -> database.count("status = 2") == 4);
        assertThat(a).containsExactlyInAnyOrder("1", "3");
        assertThat(b).containsExactlyInAnyOrder("2", "4");
    }

    @Test
    @Shows("OBX-057")
    void aHandlerGetsTheWholeMessageAndItsCancellation() {
        Queue<Call> calls = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass()
                .outboxHandler("a", (message, cancellation) -> calls.add(new Call(message, cancellation))));
        Instant due = Instant.parse("2020-01-02T03:04:05Z");
        Instant expiry = Instant.parse("2120-01-02T03:04:05Z");
        Map<String, String> headers = Map.of("traceparent", "00-1", "quote \"\\", "tab\t é 😀");
        OutboxMessageIdentifier id = windlass.outbox()
                .enqueue(OutboxEntry.of("a", "pay\nload")
                        .withCorrelationId("order 7")
                        .withHeaders(headers)
                        .withDueTime(due)
                        .withExpiresAt(expiry));
        eventually().until(() -> !calls.isEmpty());
        Call call = calls.element();
        OutboxMessage message = call.message();
        assertThat(message.messageId()).isEqualTo(id);
        assertThat(message.topic()).isEqualTo("a");
        assertThat(message.payload()).isEqualTo("pay\nload");
        assertThat(message.correlationId()).hasValue("order 7");
        assertThat(message.headers()).isEqualTo(headers);
        assertThat(message.dueTime()).hasValue(due);
        assertThat(message.expiresAt()).hasValue(expiry);
        assertThat(message.createdAt()).isAfter(due);
        assertThat(message.status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(message.retryCount()).isZero();
        assertThat(message.lastError()).isEqualTo(Optional.empty());
        assertThat(call.cancellation().isCancelled()).isFalse();
    }

    @Test
    void aSecondHandlerForATopicIsRefused() {
        WindlassBuilder builder = database.windlass().outboxHandler("a", message -> {});
        assertThatThrownBy(() -> builder.outboxHandler("a", message -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected one handler for topic a, got a second");
    }

    @Test
    @Shows("OBX-055")
    void aTopicWithoutHandlerStaysReadyAndIsWarnedOfOnce() {
        Windlass writer = database.passive();
        writer.outbox().enqueueAll(List.of(OutboxEntry.of("new", "1"), OutboxEntry.of("new", "2")));
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            Windlass old = database.start(database.windlass().outboxHandler("a", message -> a.add(message.payload())));
            eventually().until(() -> logs.count(Level.WARN, "topic new") == 1);
            for (int i = 0; i < 20; i++) {
                old.outbox().enqueueAll(List.of(OutboxEntry.of("a", "x"), OutboxEntry.of("new", "y")));
            }
            eventually().until(() -> database.count("status = 2") == 20);
            assertThat(logs.count(Level.WARN, "topic new")).isEqualTo(1);
        }
        assertThat(database.count("topic = 'new' and status = 0 and retry_count = 0 and lease_expiries = 0"))
                .isEqualTo(22);
        // Never claimed means never rewritten: the row is still the one that was inserted, not released again and
        // again.
        assertThat(database.count("topic = 'new' and xmax <> 0")).isZero();
    }

    @Test
    @Shows("OBX-055")
    void aNodeThatHasTheHandlerTakesAWaitingTopic() {
        database.start(database.windlass().outboxHandler("a", message -> {}));
        database.passive().outbox().enqueue(OutboxEntry.of("new", "1"));
        database.start(database.windlass().outboxHandler("new", message -> b.add(message.payload())));
        eventually().until(() -> database.count("topic = 'new' and status = 2") == 1);
        assertThat(b).containsExactly("1");
    }

    @Test
    void aNodeWithoutBackgroundWorkOnlyWrites() {
        Windlass writer = database.start(database.windlass()
                .options(database.options().withBackgroundWorkers(false))
                .outboxHandler("a", message -> a.add("writer")));
        OutboxMessageIdentifier id = writer.outbox().enqueue(OutboxEntry.of("a", "1"));
        assertThat(writer.isRunning()).isTrue();
        database.start(database.windlass().outboxHandler("a", message -> a.add("worker")));
        eventually().until(() -> writer.outbox().find(id).orElseThrow().isProcessed());
        assertThat(a).containsExactly("worker");
    }

    @Test
    @Shows({"OBX-102", "OBX-103", "OBX-104", "OBX-107"})
    void whatHappensToAMessageIsLoggedWithTopicIdAndStore() {
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            Windlass windlass =
                    database.start(database.windlass().name("orders").outboxHandler("a", message -> {}));
            OutboxMessageIdentifier id =
                    windlass.outbox().enqueue(OutboxEntry.of("a", "1").withCorrelationId("order 7"));
            eventually().until(() -> database.count("status = 2") == 1);
            assertThat(logs.at(Level.DEBUG))
                    .contains("[orders] enqueued " + id.value() + " of topic a, correlation id order 7")
                    .contains("[orders] claimed 1 messages")
                    .contains("[orders] handling " + id.value() + " of topic a");
            assertThat(logs.lines())
                    .filteredOn(line -> !line.text().startsWith("[orders]"))
                    .isEmpty();
        }
    }

    @Test
    @Shows("OBX-102")
    void aBatchIsLoggedInOneLineWithItsTopicsAndTheFirstOfItsMessages() throws Exception {
        List<OutboxEntry> entries = IntStream.range(0, 107)
                .mapToObj(n -> OutboxEntry.of(n < 7 ? "a" : "b" + n % 25, "x").withCorrelationId("order " + n))
                .toList();
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            Windlass windlass = database.start(
                    database.windlass().options(database.options().withBackgroundWorkers(false)));
            List<OutboxMessageIdentifier> ids = windlass.outbox().enqueueAll(entries);
            windlass.inTransaction(connection -> windlass.outbox().enqueueAll(connection, entries.subList(0, 2)));

            List<String> lines = logs.at(Level.DEBUG).stream()
                    .filter(line -> line.contains(" enqueued "))
                    .toList();
            assertThat(lines).hasSize(2);
            assertThat(lines.get(0))
                    .startsWith("[windlass] enqueued 107 messages of topics a (7), b7 (4), ")
                    .contains(" and 6 more: " + ids.get(0).value() + " with correlation id order 0, ")
                    .endsWith(ids.get(4).value() + " with correlation id order 4 and 102 more");
            assertThat(lines.get(1))
                    .startsWith("[windlass] enqueued 2 messages of topics a (2): ")
                    .endsWith(" with correlation id order 1");
        }
    }

    @Test
    void manyTopicsWithoutAHandlerAreAFewLinesAndAnEventEach() {
        Queue<WindlassEvent> unhandled = new ConcurrentLinkedQueue<>();
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 100)
                        .mapToObj(i -> OutboxEntry.of("unknown " + i, "x"))
                        .toList());
        try (Logs logs = Logs.collect(Level.WARN)) {
            database.start(database.windlass().outboxHandler("a", message -> {}).listener(event -> {
                if (event instanceof WindlassEvent.TopicUnhandled) {
                    unhandled.add(event);
                }
            }));
            eventually().until(() -> logs.count(Level.WARN, "messages of 80 further topics are waiting") == 1);
            assertThat(logs.count(Level.WARN, "this node has no handler for it;"))
                    .isEqualTo(20);
            eventually().until(() -> unhandled.size() == 100);
        }
    }
}
