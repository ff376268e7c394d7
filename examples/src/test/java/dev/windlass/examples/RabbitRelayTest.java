package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.ShutdownSignalException;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.examples.AmqpBroker.Arrived;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.testkit.WindlassExtension;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class RabbitRelayTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final String EXCHANGE = "amq.topic";

    /** Nothing is retried before a test lets time pass. */
    private static final HandlerOptions PATIENT =
            HandlerOptions.defaults().withRetry(RetryPolicy.defaults().withBase(Duration.ofMinutes(1)));

    private static AmqpBroker broker;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = AmqpBroker.running();
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @Test
    void theExampleReturnsWhenTheBrokerHasTheOrder() throws Exception {
        broker.createQueue("example", EXCHANGE, "order.placed");
        assertThat(Run.example(RabbitRelay::main, broker.uri(), EXCHANGE)).containsExactly("RabbitMQ has order-7");
        assertThat(broker.take("example")).extracting(Arrived::payload).containsExactly("{\"order\": 7}");
    }

    @Test
    void aMessageArrivesWithItsPropertiesHeadersAndPayload() throws Exception {
        broker.createQueue("orders", EXCHANGE, "order.*");
        OutboxMessageIdentifier full;
        OutboxMessageIdentifier bare;
        try (RabbitRelay relay = relay();
                Windlass windlass = start("order.full", relay)) {
            full = windlass.outbox()
                    .enqueue(OutboxEntry.of("order.full", "7 nach Zürich")
                            .withCorrelationId("order-7")
                            .withHeaders(Map.of("traceparent", "00-1-2-01")));
            database.drain();
            bare = windlass.outbox().enqueue(OutboxEntry.of("order.full", ""));
            database.drain();
        }
        List<Arrived> arrived = broker.take("orders");
        assertThat(arrived).extracting(Arrived::routingKey).containsOnly("order.full");
        assertThat(arrived).extracting(Arrived::payload).containsExactly("7 nach Zürich", "");
        assertThat(arrived).extracting(Arrived::headers).containsExactly(Map.of("traceparent", "00-1-2-01"), Map.of());
        assertThat(arrived)
                .extracting(each -> each.properties().getMessageId())
                .containsExactly(full.value().toString(), bare.value().toString());
        assertThat(arrived)
                .extracting(each -> each.properties().getCorrelationId())
                .containsExactly("order-7", null);
        assertThat(arrived)
                .extracting(each -> each.properties().getDeliveryMode())
                .containsOnly(2);
    }

    @Test
    void handlersThatPublishAtOnceDoNotDisturbEachOther() throws Exception {
        broker.createQueue("many", EXCHANGE, "many");
        List<String> payloads =
                IntStream.range(0, 200).mapToObj(i -> "order " + i).toList();
        try (RabbitRelay relay = relay();
                Windlass windlass = start("many", relay)) {
            windlass.outbox()
                    .enqueueAll(payloads.stream()
                            .map(payload -> OutboxEntry.of("many", payload))
                            .toList());
            database.drain();
        }
        assertThat(broker.take("many")).extracting(Arrived::payload).containsExactlyInAnyOrderElementsOf(payloads);
        assertThat(database.messages("many")).allMatch(message -> message.retryCount() == 0);
    }

    @Test
    void aMessageWaitsForABrokerThatIsDown() throws Exception {
        broker.createQueue("outage", EXCHANGE, "outage");
        try (RabbitRelay relay = relay();
                Windlass windlass = start("outage", relay)) {
            windlass.outbox().enqueue(OutboxEntry.of("outage", "before"));
            database.drain();
            assertThat(broker.take("outage")).hasSize(1);

            broker.stop();
            OutboxMessageIdentifier id = windlass.outbox().enqueue(OutboxEntry.of("outage", "during"));
            database.drain();
            assertThat(Stored.waitsAfter(windlass, id)).contains("ConnectException");

            broker.start();
            broker.createQueue("outage", EXCHANGE, "outage");
            database.advance(Duration.ofMinutes(1));
            database.drain();
            Stored.isDone(windlass, id);
        }
        assertThat(broker.take("outage")).extracting(Arrived::payload).containsExactly("during");
    }

    @Test
    void aMessageWaitsForAQueueThatIsBoundLater() throws Exception {
        try (RabbitRelay relay = relay();
                Windlass windlass = start("unbound", relay)) {
            OutboxMessageIdentifier id = windlass.outbox().enqueue(OutboxEntry.of("unbound", "7"));
            database.drain();
            assertThat(Stored.waitsAfter(windlass, id)).isNotEmpty();

            broker.createQueue("unbound", EXCHANGE, "unbound");
            database.advance(Duration.ofMinutes(1));
            database.drain();
            Stored.isDone(windlass, id);
        }
        assertThat(broker.take("unbound")).extracting(Arrived::payload).containsExactly("7");
    }

    @Test
    void aMessageThatIsReturnedIsNotDoneAlthoughItIsConfirmed() throws Exception {
        try (ConfirmingReturns rabbit = new ConfirmingReturns(broker.port());
                RabbitRelay relay = new RabbitRelay(EXCHANGE, RabbitRelay.factory(AmqpBroker.uri(rabbit.port())));
                Windlass windlass = start("returned", relay)) {
            OutboxMessageIdentifier id = windlass.outbox().enqueue(OutboxEntry.of("returned", ""));
            database.drain();
            assertThat(Stored.waitsAfter(windlass, id)).contains("expected a queue bound");

            broker.createQueue("returned", EXCHANGE, "returned");
            database.advance(Duration.ofMinutes(1));
            database.drain();
            Stored.isDone(windlass, id);
        }
        assertThat(broker.take("returned")).hasSize(1);
    }

    @Test
    void aMessageThatTheBrokerCannotTakeFailsForGood() throws Exception {
        broker.createQueue("refused", EXCHANGE, "refused");
        try (RabbitRelay relay = relay();
                Windlass windlass = start("refused", relay)) {
            OutboxEntry small = OutboxEntry.of("refused", "x");
            OutboxMessageIdentifier tooLarge =
                    windlass.outbox().enqueue(OutboxEntry.of("refused", "x".repeat(AmqpBroker.MAX_MESSAGE_BYTES + 1)));
            OutboxMessageIdentifier tooLongAnId = windlass.outbox().enqueue(small.withCorrelationId("ü".repeat(200)));
            windlass.outbox().enqueue(small);
            database.drain();

            assertThat(Stored.hasFailedFor(windlass, tooLarge)).contains("greater than allowed maximum");
            assertThat(Stored.hasFailedFor(windlass, tooLongAnId)).contains("max = 255");
        }
        assertThat(broker.take("refused")).extracting(Arrived::payload).containsExactly("x");
    }

    @Test
    void onlyARefusalOfTheMessageIsPermanent() {
        assertThat(RabbitRelay.failure(closedByBroker(AMQP.PRECONDITION_FAILED, "message size is larger than max")))
                .isInstanceOf(PermanentFailure.class);
        assertThat(RabbitRelay.failure(closedByBroker(AMQP.NOT_FOUND, "no exchange 'orders'")))
                .isNotInstanceOf(PermanentFailure.class);
        assertThat(RabbitRelay.failure(closedByBroker(AMQP.ACCESS_REFUSED, "no write access")))
                .isNotInstanceOf(PermanentFailure.class);
    }

    private static ShutdownSignalException closedByBroker(int code, String text) {
        AMQP.Channel.Close close =
                new AMQP.Channel.Close.Builder().replyCode(code).replyText(text).build();
        return new ShutdownSignalException(false, false, close, null);
    }

    private static RabbitRelay relay() throws Exception {
        return new RabbitRelay(EXCHANGE, RabbitRelay.factory(broker.uri()));
    }

    private static Windlass start(String topic, RabbitRelay relay) {
        return database.windlass().outboxHandler(topic, PATIENT, relay).start();
    }
}
