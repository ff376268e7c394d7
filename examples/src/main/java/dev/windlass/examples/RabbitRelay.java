package dev.windlass.examples;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
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
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Deque;
import java.util.HashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Publishes messages to RabbitMQ: a message is done when a queue has it and the broker has confirmed it, and not before.
 *
 * <p>It goes to an exchange, with its topic as routing key. A repeated attempt publishes it again, under the same message id:
 * consumers drop what they have seen.
 *
 * <p>Thread-safe: one connection, and a channel for each message that is under way. Close it after the {@link Windlass} that
 * uses it.
 */
public final class RabbitRelay implements OutboxHandler, AutoCloseable {
    /** For each step on the way to a channel. None of them listens to interrupts. */
    private static final int STEP_MILLIS = 5_000;

    private static final int CONFIRM_MILLIS = 10_000;

    private final String exchange;
    private final ConnectionFactory factory;
    private final Deque<Publisher> idle = new ConcurrentLinkedDeque<>();
    private final ReentrantLock connecting = new ReentrantLock();
    private @Nullable Connection connection;
    private boolean closed;

    RabbitRelay(String exchange, ConnectionFactory factory) {
        this.exchange = exchange;
        this.factory = factory;
    }

    // tag::factory
    static ConnectionFactory factory(String uri) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(uri);
        factory.setAutomaticRecoveryEnabled(false); // the next attempt connects anew
        factory.setRequestedHeartbeat(10); // seconds, to notice a broker that went away without a word
        factory.setConnectionTimeout(STEP_MILLIS);
        factory.setHandshakeTimeout(STEP_MILLIS);
        factory.setChannelRpcTimeout(STEP_MILLIS);
        return factory;
    }
    // end::factory

    // tag::handle
    @Override
    public void handle(OutboxMessage message, Cancellation cancellation) throws Exception {
        Publisher publisher = borrow();
        try {
            publisher.publish(exchange, message);
        } catch (Exception e) {
            publisher.abort(); // a late answer must not be taken for that to another message
            throw failure(e);
        }
        idle.push(publisher);
    }

    static AMQP.BasicProperties properties(OutboxMessage message) {
        return new AMQP.BasicProperties.Builder()
                .messageId(message.messageId().value().toString())
                .correlationId(message.correlationId().orElse(null))
                .headers(new HashMap<>(message.headers()))
                .contentEncoding("UTF-8")
                .deliveryMode(2) // persistent
                .build();
    }
    // end::handle

    // tag::publisher
    /** A channel in confirm mode. Channels are not made for several publishers at once: one message has it at a time. */
    private static final class Publisher {
        private final Channel channel;
        private volatile boolean returned;

        Publisher(Channel channel) {
            this.channel = channel;
            channel.addReturnListener(unroutable -> returned = true);
        }

        /** RabbitMQ confirms what it has returned, too; the return comes first. */
        void publish(String exchange, OutboxMessage message) throws Exception {
            if (channel.getNextPublishSeqNo() == 0) {
                channel.confirmSelect();
            }
            byte[] body = message.payload().getBytes(StandardCharsets.UTF_8);
            channel.basicPublish(exchange, message.topic(), true, properties(message), body);
            if (!channel.waitForConfirms(CONFIRM_MILLIS)) {
                throw new IOException("the broker refused to take responsibility for the message");
            }
            if (returned) {
                throw new IOException("expected a queue bound to exchange %s for routing key %s, found none"
                        .formatted(exchange, message.topic()));
            }
        }

        boolean isOpen() {
            return channel.isOpen();
        }

        void abort() throws IOException {
            channel.abort();
        }
    }
    // end::publisher

    // tag::failure
    static Exception failure(Exception thrown) {
        boolean hopeless = thrown instanceof IllegalArgumentException // an id of more than 255 bytes, for example
                || (thrown instanceof ShutdownSignalException end && isRefusal(end));
        return hopeless ? new PermanentFailure("RabbitMQ cannot take this message: " + thrown, thrown) : thrown;
    }

    /** The broker closes a channel on a message that is too large, or has properties it does not accept. */
    private static boolean isRefusal(ShutdownSignalException end) {
        return !end.isInitiatedByApplication()
                && end.getReason() instanceof AMQP.Channel.Close close
                && (close.getReplyCode() == AMQP.PRECONDITION_FAILED || close.getReplyCode() == AMQP.CONTENT_TOO_LARGE);
    }
    // end::failure

    // tag::connect
    private Publisher borrow() throws Exception {
        for (Publisher publisher; (publisher = idle.poll()) != null; ) {
            if (publisher.isOpen()) {
                return publisher;
            }
        }
        return new Publisher(connection().openChannel().orElseThrow(() -> new IOException("no channel is left")));
    }

    /** One connects for all; nobody waits for longer than one try takes, or many tries would add up. */
    private Connection connection() throws Exception {
        if (!connecting.tryLock(STEP_MILLIS, TimeUnit.MILLISECONDS)) {
            throw new IOException("the broker does not answer");
        }
        try {
            if (closed) {
                throw new IOException("the relay is closed");
            }
            if (connection == null || !connection.isOpen()) {
                connection = factory.newConnection("windlass relay");
            }
            return connection;
        } finally {
            connecting.unlock();
        }
    }
    // end::connect

    @Override
    public void close() {
        connecting.lock();
        try {
            closed = true;
            if (connection != null) {
                connection.abort(STEP_MILLIS);
            }
        } finally {
            connecting.unlock();
        }
    }

    /** Needs a RabbitMQ; its URI and the name of an exchange there are the arguments. */
    public static void main(String[] args) throws Exception {
        run(EmbeddedPostgres.shared().dataSource(), args[0], args[1]);
    }

    private static void run(DataSource dataSource, String uri, String exchange) throws Exception {
        HandlerOptions patient = HandlerOptions.defaults()
                .withTimeout(Duration.ofMinutes(1))
                .withRetry(RetryPolicy.defaults().withMaxAttempts(1_000))
                .withCircuit(Circuit.defaults());

        // tag::wiring
        try (RabbitRelay relay = new RabbitRelay(exchange, factory(uri)); // closed after Windlass
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
            System.out.println("RabbitMQ has order-7");
        }
    }
}
