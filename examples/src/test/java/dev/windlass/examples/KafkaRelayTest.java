package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WorkStatus;
import dev.windlass.examples.KafkaBroker.Arrived;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.testkit.WindlassExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

final class KafkaRelayTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    /** Nothing is retried before a test lets time pass. */
    private static final HandlerOptions PATIENT =
            HandlerOptions.defaults().withRetry(RetryPolicy.defaults().withBase(Duration.ofMinutes(1)));

    private static final Map<String, Object> IMPATIENT =
            Map.of("max.block.ms", 1_000, "request.timeout.ms", 1_000, "delivery.timeout.ms", 1_500);

    private static KafkaBroker broker;

    @BeforeAll
    static void startBroker(@TempDir Path directory) throws Exception {
        broker = KafkaBroker.start(directory);
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @Test
    void theExampleReturnsWhenKafkaHasTheOrder() throws Exception {
        broker.createTopic("example", Map.of());
        assertThat(Run.example(KafkaRelay::main, broker.address(), "example")).containsExactly("Kafka has order-7");
        assertThat(broker.arrived("example")).extracting(Arrived::payload).containsExactly("{\"order\": 7}");
    }

    @Test
    void aMessageArrivesWithItsKeyHeadersAndPayload() throws Exception {
        broker.createTopic("orders", Map.of());
        OutboxMessageIdentifier full;
        OutboxMessageIdentifier bare;
        try (KafkaRelay relay = relay("orders", Map.of());
                Windlass windlass = start(relay)) {
            full = windlass.outbox()
                    .enqueue(order("7 nach Zürich")
                            .withOrderingKey("customer-3")
                            .withCorrelationId("order-7")
                            .withHeaders(Map.of("traceparent", "00-1-2-01", "message-id", "the relay's own wins")));
            bare = windlass.outbox().enqueue(order(""));
            database.drain();
        }
        assertThat(broker.arrived("orders"))
                .containsExactlyInAnyOrder(
                        new Arrived(
                                "customer-3",
                                "7 nach Zürich",
                                Map.of(
                                        "traceparent", "00-1-2-01",
                                        "correlation-id", "order-7",
                                        "message-id", full.value().toString())),
                        new Arrived(null, "", Map.of("message-id", bare.value().toString())));
    }

    @Test
    void aRepeatedAttemptArrivesAgainUnderTheSameId() throws Exception {
        broker.createTopic("twice", Map.of());
        try (KafkaRelay relay = relay("twice", Map.of());
                Windlass windlass = database.windlass().start()) {
            OutboxMessage message = windlass.outbox()
                    .find(windlass.outbox().enqueue(order("7")))
                    .orElseThrow();
            relay.handle(message, () -> false);
            relay.handle(message, () -> false);

            Arrived one = new Arrived(
                    null, "7", Map.of("message-id", message.messageId().value().toString()));
            assertThat(broker.arrived("twice")).containsExactly(one, one);
        }
    }

    @Test
    void aMessageWaitsForABrokerThatIsDown() throws Exception {
        broker.createTopic("outage", Map.of());
        try (KafkaRelay relay = relay("outage", IMPATIENT);
                Windlass windlass = start(relay)) {
            windlass.outbox().enqueue(order("before"));
            database.drain();
            broker.stop();
            OutboxMessageIdentifier id = windlass.outbox().enqueue(order("during"));
            database.drain();
            assertThat(Stored.waitsAfter(windlass, id)).contains("TimeoutException");

            broker.start();
            awaitDone(windlass, id);
        }
        assertThat(broker.arrived("outage")).extracting(Arrived::payload).contains("before", "during");
    }

    @Test
    void aMessageWaitsForATopicThatDoesNotExist() throws Exception {
        try (KafkaRelay relay = relay("later", IMPATIENT);
                Windlass windlass = start(relay)) {
            OutboxMessageIdentifier id = windlass.outbox().enqueue(order("7"));
            database.drain();
            assertThat(Stored.waitsAfter(windlass, id)).contains("Topic later not present");

            broker.createTopic("later", Map.of());
            awaitDone(windlass, id);
        }
        assertThat(broker.arrived("later")).extracting(Arrived::payload).contains("7");
    }

    @Test
    void messagesOfOneKeyArriveInOrderAlsoAfterAFailure() throws Exception {
        try (KafkaRelay relay = relay("in-order", IMPATIENT);
                Windlass windlass = start(relay)) {
            List<OutboxMessageIdentifier> ids = windlass.outbox()
                    .enqueueAll(List.of(
                            order("first").withOrderingKey("customer-3"),
                            order("second").withOrderingKey("customer-3")));
            database.drain();
            assertThat(Stored.waitsAfter(windlass, ids.get(0))).contains("Topic in-order not present");
            assertThat(windlass.outbox().find(ids.get(1)).orElseThrow().status())
                    .isEqualTo(WorkStatus.WAITING);

            broker.createTopic("in-order", Map.of());
            awaitDone(windlass, ids.get(1));
        }
        assertThat(broker.arrived("in-order"))
                .extracting(Arrived::payload)
                .startsWith("first")
                .endsWith("second");
    }

    @Test
    void aMessageThatIsTooLargeFailsForGood() throws Exception {
        broker.createTopic("small", Map.of("max.message.bytes", "1000"));
        try (KafkaRelay relay = relay("small", Map.of());
                Windlass windlass = start(relay)) {
            OutboxMessageIdentifier fits = windlass.outbox().enqueue(order("x"));
            OutboxMessageIdentifier forTheTopic = windlass.outbox().enqueue(order("x".repeat(2_000)));
            OutboxMessageIdentifier forTheProducer = windlass.outbox().enqueue(order("x".repeat(2_000_000)));
            database.drain();

            Stored.isDone(windlass, fits);
            assertThat(Stored.hasFailedFor(windlass, forTheTopic)).contains("RecordTooLarge");
            assertThat(Stored.hasFailedFor(windlass, forTheProducer)).contains("RecordTooLarge");
        }
    }

    @Test
    void aMessageThatTheTopicRefusesDoesNotTakeItsBatchWithIt() throws Exception {
        broker.createTopic("compacted", Map.of("cleanup.policy", "compact"));
        try (KafkaRelay relay = relay("compacted", Map.of("linger.ms", 300));
                Windlass windlass = start(relay)) {
            List<OutboxMessageIdentifier> ids = windlass.outbox()
                    .enqueueAll(List.of(order("keyed").withOrderingKey("customer-3"), order("keyless")));
            database.drain();
            database.advance(Duration.ofMinutes(1));
            database.drain();

            Stored.isDone(windlass, ids.get(0));
            assertThat(Stored.hasFailedFor(windlass, ids.get(1))).contains("without key");
        }
        assertThat(broker.arrived("compacted")).extracting(Arrived::payload).containsExactly("keyed");
    }

    @Test
    void whatAnOperatorCanMendIsNotPermanent() {
        for (KafkaException mendable : List.of(
                new NotEnoughReplicasException("two of three are down"),
                new TopicAuthorizationException("orders"),
                new InvalidTopicException("or/ders"),
                new KafkaException("part of a batch with an invalid record"))) {
            assertThat(KafkaRelay.failure(new ExecutionException(mendable))).isNotInstanceOf(PermanentFailure.class);
        }
    }

    private static KafkaRelay relay(String topic, Map<String, Object> more) {
        Map<String, Object> settings = KafkaRelay.settings(broker.address());
        settings.putAll(more);
        return new KafkaRelay(topic, settings);
    }

    /** The broker may be slow to come back, and the producer to find it. */
    private static void awaitDone(Windlass windlass, OutboxMessageIdentifier id) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            database.advance(Duration.ofMinutes(1));
            database.drain();
            Stored.isDone(windlass, id);
        });
    }

    private static Windlass start(KafkaRelay relay) {
        return database.windlass().outboxHandler("order.placed", PATIENT, relay).start();
    }

    private static OutboxEntry order(String payload) {
        return OutboxEntry.of("order.placed", payload);
    }
}
