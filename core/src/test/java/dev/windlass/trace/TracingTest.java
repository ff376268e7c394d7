package dev.windlass.trace;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Child;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.QueueKind;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.internal.loop.Workers;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.work.WorkEntry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** A trace goes on where a message is handled. */
final class TracingTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Traces traces = new Traces();

    @Test
    void theHandlerOfAnotherProcessIsInTheTraceOfTheWriter() throws Exception {
        try (Child handler = Child.start(TracingHandler.class, database)) {
            eventually().until(() -> handler.said("ready"));
            Windlass writer = database.start(database.windlass()
                    .tracing(new ObservationTracing(traces.registry))
                    .options(database.options().withBackgroundWorkers(false)));
            Span business = traces.tracer.nextSpan().name("place order").start();
            UUID id;
            try (Tracer.SpanInScope scope = traces.tracer.withSpan(business)) {
                assertThat(scope).isNotNull();
                id = writer.outbox()
                        .enqueue(OutboxEntry.of("a", "x").withCorrelationId("order-1"))
                        .value();
            } finally {
                business.end();
            }

            String trace = business.context().traceId();
            SpanData written = traces.spans().stream()
                    .filter(span -> span.getName().equals("a write"))
                    .findFirst()
                    .orElseThrow();
            assertThat(written.getTraceId()).isEqualTo(trace);
            assertThat(written.getParentSpanId()).isEqualTo(business.context().spanId());
            assertThat(written.getKind()).isEqualTo(SpanKind.PRODUCER);
            eventually().until(() -> handler.said("handled " + trace + " " + id + " order-1"));
            eventually().until(() -> handler.said("span a handle CONSUMER " + trace + " " + written.getSpanId()));
        }
    }

    @Test
    void everyQueueCarriesTheTrace() {
        Queue<String> handled = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass()
                .tracing(new ObservationTracing(traces.registry))
                .outboxHandler("a", message -> handled.add("outbox " + trace()))
                .inboxHandler("a", message -> handled.add("inbox " + trace()))
                .workHandler("a", "type", item -> {
                    handled.add("work " + trace());
                }));
        Span business = traces.tracer.nextSpan().name("all").start();
        try (Tracer.SpanInScope scope = traces.tracer.withSpan(business)) {
            assertThat(scope).isNotNull();
            windlass.outbox().enqueueAll(List.of(OutboxEntry.of("a", "x")));
            windlass.inbox().enqueue(InboxEntry.of("source", "1", "a", "x"));
            windlass.workQueue().enqueue(WorkEntry.of("a", "type", "x"));
            windlass.timers().schedule(TimerEntry.of("a", "x", Duration.ZERO));
        } finally {
            business.end();
        }
        String trace = business.context().traceId();
        eventually().until(() -> handled.size() == 4);
        assertThat(handled)
                .containsExactlyInAnyOrder("outbox " + trace, "outbox " + trace, "inbox " + trace, "work " + trace);
    }

    private String trace() {
        Span span = traces.tracer.currentSpan();
        return span == null ? "none" : span.context().traceId();
    }

    @Test
    void headersOfASenderKeepTheirContext() {
        Map<String, String> sent = Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        Queue<String> handled = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass()
                .tracing(new ObservationTracing(traces.registry))
                .inboxHandler("a", message -> handled.add(trace())));
        windlass.inbox().enqueue(InboxEntry.of("source", "2", "a", "x").withHeaders(sent));
        eventually().until(() -> handled.size() == 1);
        assertThat(handled).containsExactly("0af7651916cd43dd8448eb211c80319c");
    }

    @Test
    void headersOfASenderGetNothingOfAnotherTraceHoweverTheyAreWritten() {
        Map<String, String> sent = Map.of("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

        Map<String, String> written = new ObservationTracing(traces.registry).written(QueueKind.OUTBOX, "a", sent);

        assertThat(written).isEqualTo(sent);
        assertThat(new ObservationTracing(traces.registry).written(QueueKind.OUTBOX, "a", Map.of("tenant", "7")))
                .containsKeys("tenant", "traceparent");
    }

    @Test
    void whatAHandlerLeavesInTheLoggingContextIsNotForTheNextMessage() {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withConcurrency(1))
                .outboxHandler("a", message -> {
                    seen.add(String.valueOf(MDC.get("tenant")));
                    MDC.put("tenant", message.payload());
                }));
        for (int i = 0; i < 3; i++) {
            int expected = i + 1;
            windlass.outbox().enqueue(OutboxEntry.of("a", "secret"));
            eventually().until(() -> seen.size() == expected);
        }
        assertThat(seen).containsOnly("null");
    }

    @Test
    void whatALeaderLeavesInTheLoggingContextIsNotForAMessage() throws Exception {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        Workers workers = new Workers();
        for (int i = 0; i < 50; i++) {
            CountDownLatch ended = new CountDownLatch(1);
            workers.runHandlers(() -> {
                seen.add(String.valueOf(MDC.get("tenant")));
                MDC.put("tenant", "secret");
                ended.countDown();
            });
            ended.await();
        }
        workers.close();
        assertThat(seen).containsOnly("null");
    }

    @Test
    void whatIsHandledTogetherGoesOnInTheTraceOfEach() {
        List<Integer> sizes = new CopyOnWriteArrayList<>();
        Windlass windlass = database.start(database.windlass().tracing(new ObservationTracing(traces.registry)));
        windlass.inTransaction(connection -> {
            for (int i = 1; i <= 9; i++) {
                windlass.inbox()
                        .enqueue(
                                connection,
                                InboxEntry.of("source", "m" + i, "b", "x")
                                        .withHeaders(Map.of(
                                                "traceparent",
                                                "00-0000000000000000000000000000000" + i + "-b7ad6b7169203331-01")));
            }
            return true;
        });
        database.start(database.windlass()
                .inbox(InboxOptions.defaults().withConcurrency(1))
                .tracing(new ObservationTracing(traces.registry))
                .inboxHandlerInTransaction("b", 10, (connection, messages) -> sizes.add(messages.size())));

        eventually().until(() -> spans("b handle").size() == 9);
        assertThat(spans("b handle")).extracting(SpanData::getTraceId).doesNotHaveDuplicates();
        assertThat(sizes).hasSizeLessThan(9);
        assertThat(spans("b handle"))
                .filteredOn(span -> tag(span, "windlass.handled.with") != null)
                .hasSize(9 - sizes.size());
    }

    private static @Nullable String tag(SpanData span, String name) {
        return span.getAttributes().get(AttributeKey.stringKey(name));
    }

    private List<SpanData> spans(String name) {
        return traces.spans().stream()
                .filter(span -> span.getName().equals(name))
                .toList();
    }

    @Test
    void theLoggingContextNamesTheMessageWhileItIsHandledAndNotAfterwards() {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        Windlass windlass = database.start(database.windlass()
                .outboxHandler(
                        "a", message -> seen.add(MDC.get("windlass.message") + " " + MDC.get("windlass.correlation"))));
        UUID first = windlass.outbox()
                .enqueue(OutboxEntry.of("a", "x").withCorrelationId("c"))
                .value();
        eventually().until(() -> seen.size() == 1);
        UUID second = windlass.outbox().enqueue(OutboxEntry.of("a", "x")).value();
        eventually().until(() -> seen.size() == 2);
        assertThat(seen).containsExactly(first + " c", second + " null");
    }

    /** Throws before and after the handler, calls it twice, or not at all. */
    @Test
    void aTracingThatMisbehavesCostsNoMessageAnAttemptAndHandlesNoneTwice() {
        Queue<String> handled = new ConcurrentLinkedQueue<>();
        Tracing wild = new Tracing() {
            @Override
            public Map<String, String> written(QueueKind queue, String topic, Map<String, String> headers) {
                throw new IllegalStateException("no trace today");
            }

            @Override
            public void handled(Received received, Work handler) throws Exception {
                switch (received.topic()) {
                    case "before" -> throw new IllegalStateException("before");
                    case "after" -> {
                        handler.run();
                        throw new AssertionError("after");
                    }
                    case "twice" -> {
                        handler.run();
                        handler.run();
                    }
                    default -> {}
                }
            }
        };
        List<String> topics = List.of("before", "after", "twice", "never");
        var builder = database.windlass().tracing(wild);
        topics.forEach(topic -> builder.outboxHandler(topic, message -> handled.add(topic)));
        Windlass windlass = database.start(builder);
        topics.forEach(topic -> windlass.outbox().enqueue(OutboxEntry.of(topic, "x")));

        eventually().until(() -> database.count("status = 2") == 4);
        assertThat(database.count("retry_count > 0")).isZero();
        assertThat(handled).containsExactlyInAnyOrderElementsOf(topics);
    }

    /** Throws an error, or returns what no table takes. */
    @Test
    void whatATracingMakesOfHeadersCostsNoMessageAndIsSaidOnce() {
        Map<String, String> ofNull = new HashMap<>();
        ofNull.put("trace", null);
        Map<String, Supplier<Map<String, String>>> answers = new HashMap<>();
        answers.put("error", () -> {
            throw new NoClassDefFoundError("tracer");
        });
        answers.put("overflow", () -> {
            throw new StackOverflowError();
        });
        answers.put("nothing", () -> null);
        answers.put("null", () -> ofNull);
        answers.put("nul", () -> Map.of("trace", "a\0b"));
        answers.put("huge", () -> Map.of("baggage", "x".repeat(40_000)));
        Tracing wild = new Tracing() {
            @Override
            public Map<String, String> written(QueueKind queue, String topic, Map<String, String> headers) {
                return Objects.requireNonNull(answers.get(topic)).get();
            }

            @Override
            public void handled(Received received, Work handler) throws Exception {
                handler.run();
            }
        };
        try (Logs logs = Logs.collect(Level.WARN)) {
            Windlass windlass = database.start(
                    database.windlass().tracing(wild).options(database.options().withBackgroundWorkers(false)));
            answers.keySet()
                    .forEach(topic ->
                            windlass.outbox().enqueue(OutboxEntry.of(topic, "x").withHeaders(Map.of("mine", "1"))));

            assertThat(database.count("headers = '{\"mine\": \"1\"}'")).isEqualTo(answers.size());
            assertThat(logs.count(Level.ERROR, "tracing failed")).isEqualTo(1);
        }
    }
}
