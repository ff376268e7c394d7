package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.base.Cancellation;
import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryPolicy;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes messages to Kafka: a message is done when Kafka has acknowledged it, and not before.
 *
 * <p>The producer is idempotent, so its own retries store a message once. A repeated attempt stores it again, under the same
 * message id: consumers drop what they have seen.
 *
 * <p>Thread-safe. Close it after the {@link Windlass} that uses it.
 */
public final class KafkaRelay implements OutboxHandler, AutoCloseable {
    static final String MESSAGE_ID = "message-id";
    static final String CORRELATION_ID = "correlation-id";

    private final String topic;
    private final Producer<@Nullable String, String> producer;

    KafkaRelay(String topic, Map<String, Object> settings) {
        this.topic = topic;
        this.producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    // tag::settings
    static Map<String, Object> settings(String servers) {
        Map<String, Object> settings = new HashMap<>();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 5_000); // send waits for the topic's metadata, or for memory
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000); // one request, which the producer may repeat
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 20_000); // all requests for one message
        return settings;
    }
    // end::settings

    // tag::handle
    @Override
    public void handle(OutboxMessage message, Cancellation cancellation) throws Exception {
        try {
            producer.send(record(message)).get();
        } catch (ExecutionException | SerializationException e) {
            throw failure(e);
        }
    }

    private ProducerRecord<@Nullable String, String> record(OutboxMessage message) {
        String key = message.orderingKey().orElse(null);
        return new ProducerRecord<>(topic, null, key, message.payload(), headers(message));
    }

    /** Ours come last: of several headers with one name, consumers read the last. */
    private static Headers headers(OutboxMessage message) {
        Headers headers = new RecordHeaders();
        message.headers().forEach((name, value) -> headers.add(name, bytes(value)));
        message.correlationId().ifPresent(id -> headers.add(CORRELATION_ID, bytes(id)));
        return headers.add(MESSAGE_ID, bytes(message.messageId().value().toString()));
    }
    // end::handle

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    // tag::failure
    static Exception failure(Exception thrown) {
        Throwable reason = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
        boolean hopeless = reason instanceof RecordTooLargeException
                || reason instanceof InvalidRecordException // no key for a compacted topic, for example
                || reason instanceof SerializationException;
        return hopeless ? new PermanentFailure("Kafka cannot take this message: " + reason, thrown) : thrown;
    }
    // end::failure

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }

    /** Needs a Kafka; its address and the name of a topic there are the arguments. */
    public static void main(String[] args) throws Exception {
        run(EmbeddedPostgres.shared().dataSource(), args[0], args[1]);
    }

    private static void run(DataSource dataSource, String servers, String topic) throws Exception {
        // tag::wiring
        HandlerOptions patient = HandlerOptions.defaults()
                .withTimeout(Duration.ofMinutes(1))
                .withRetry(RetryPolicy.defaults().withMaxAttempts(1_000))
                .withCircuit(Circuit.defaults());

        try (KafkaRelay relay = new KafkaRelay(topic, settings(servers)); // closed after Windlass
                Windlass windlass = Windlass.on(dataSource)
                        .ensureSchema()
                        .outboxHandler("order.placed", patient, relay)
                        .start()) {
            // end::wiring
            OutboxMessageIdentifier id = windlass.outbox()
                    .enqueue(OutboxEntry.of("order.placed", "{\"order\": 7}").withCorrelationId("order-7"));
            while (!windlass.outbox().find(id).orElseThrow().isProcessed()) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
            System.out.println("Kafka has order-7");
        }
    }
}
