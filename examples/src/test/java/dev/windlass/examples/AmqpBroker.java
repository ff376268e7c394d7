package dev.windlass.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener.DefaultSystemLauncherListener;
import org.apache.qpid.server.model.Broker;
import org.apache.qpid.server.model.Port;
import org.apache.qpid.server.model.SystemConfig;
import org.jspecify.annotations.Nullable;

/**
 * A broker in this JVM that speaks RabbitMQ's protocol, AMQP 0-9-1: Apache Qpid, on a free port of 127.0.0.1 that stays over a
 * restart. What it holds does not.
 */
final class AmqpBroker implements AutoCloseable {
    static final int MAX_MESSAGE_BYTES = 100_000;

    private int port;
    private @Nullable SystemLauncher launcher;

    private AmqpBroker() {}

    static AmqpBroker running() throws Exception {
        AmqpBroker broker = new AmqpBroker();
        broker.start();
        return broker;
    }

    void start() throws Exception {
        Ports ports = new Ports();
        launcher = new SystemLauncher(ports);
        Map<String, String> context = Map.of("amqp.port", "" + port, "qpid.max_message_size", "" + MAX_MESSAGE_BYTES);
        launcher.startup(Map.of(
                "type",
                "Memory",
                "initialConfigurationLocation",
                configuration(),
                "startupLoggedToSystemOut",
                false,
                "context",
                context));
        port = ports.bound();
    }

    private static String configuration() {
        return Objects.requireNonNull(AmqpBroker.class.getResource("/amqp-broker.json"))
                .toString();
    }

    void stop() {
        if (launcher != null) {
            launcher.shutdown();
            launcher = null;
        }
    }

    @Override
    public void close() {
        stop();
    }

    int port() {
        return port;
    }

    String uri() {
        return uri(port);
    }

    static String uri(int port) {
        return "amqp://guest:guest@127.0.0.1:" + port;
    }

    void createQueue(String queue, String exchange, String routingKey) throws Exception {
        try (Connection connection = connect();
                Channel channel = connection.createChannel()) {
            channel.queueDeclare(queue, true, false, false, Map.of());
            channel.queueBind(queue, exchange, routingKey);
        }
    }

    /** What consumers see of a message. */
    record Arrived(String routingKey, String payload, Map<String, String> headers, AMQP.BasicProperties properties) {

        static Arrived of(GetResponse response) {
            Map<String, String> headers = new TreeMap<>();
            AMQP.BasicProperties properties = response.getProps();
            properties.getHeaders().forEach((name, value) -> headers.put(name, value.toString()));
            String payload = new String(response.getBody(), UTF_8);
            return new Arrived(response.getEnvelope().getRoutingKey(), payload, headers, properties);
        }
    }

    /** Takes all that is in a queue now. */
    List<Arrived> take(String queue) throws Exception {
        List<Arrived> taken = new ArrayList<>();
        try (Connection connection = connect();
                Channel channel = connection.createChannel()) {
            for (GetResponse got; (got = channel.basicGet(queue, true)) != null; ) {
                taken.add(Arrived.of(got));
            }
        }
        return taken;
    }

    private Connection connect() throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(uri());
        return factory.newConnection();
    }

    /** Learns where the broker listens; its launcher reports failures here and returns. */
    private static final class Ports extends DefaultSystemLauncherListener {
        private @Nullable SystemConfig<?> system;
        private @Nullable RuntimeException failure;

        @Override
        public void onContainerResolve(SystemConfig<?> resolved) {
            system = resolved;
        }

        @Override
        public void errorOnStartup(RuntimeException e) {
            failure = e;
        }

        int bound() {
            if (failure != null || system == null) {
                throw new IllegalStateException("the broker did not start", failure);
            }
            Broker<?> broker = (Broker<?>) system.getContainer();
            return broker.getPorts().stream()
                    .mapToInt(Port::getBoundPort)
                    .findFirst()
                    .orElseThrow();
        }
    }
}
