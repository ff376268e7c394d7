package dev.windlass.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.jspecify.annotations.Nullable;

/** A real Kafka in this JVM, broker and controller in one, on free ports of 127.0.0.1 that stay over a restart. */
final class KafkaBroker implements AutoCloseable {
    private final Map<String, Object> settings;
    private final String address;
    private @Nullable KafkaRaftServer server;

    private KafkaBroker(Path directory, int port, int controllerPort) {
        address = "127.0.0.1:" + port;
        settings = Map.ofEntries(
                Map.entry("process.roles", "broker,controller"),
                Map.entry("node.id", "1"),
                Map.entry("log.dirs", directory.toString()),
                Map.entry("listeners", "PLAINTEXT://" + address + ",CONTROLLER://127.0.0.1:" + controllerPort),
                Map.entry("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"),
                Map.entry("controller.listener.names", "CONTROLLER"),
                Map.entry("controller.quorum.voters", "1@127.0.0.1:" + controllerPort),
                Map.entry("auto.create.topics.enable", "false"));
    }

    static KafkaBroker start(Path directory) throws Exception {
        KafkaBroker broker;
        try (ServerSocket one = free();
                ServerSocket other = free()) {
            broker = new KafkaBroker(directory, one.getLocalPort(), other.getLocalPort());
        }
        format(directory);
        broker.start();
        return broker;
    }

    private static ServerSocket free() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    private static void format(Path directory) throws Exception {
        new Formatter()
                .setClusterId(Uuid.randomUuid().toString())
                .setNodeId(1)
                .addDirectory(directory.toString())
                .setMetadataLogDirectory(directory.toString())
                .setControllerListenerName("CONTROLLER")
                .setPrintStream(new PrintStream(new ByteArrayOutputStream(), true, UTF_8))
                .run();
    }

    void start() {
        server = new KafkaRaftServer(new KafkaConfig(settings, false), Time.SYSTEM);
        server.startup();
    }

    void stop() {
        if (server != null) {
            server.shutdown();
            server.awaitShutdown();
            server = null;
        }
    }

    @Override
    public void close() {
        stop();
    }

    String address() {
        return address;
    }

    void createTopic(String topic, Map<String, String> configs) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            NewTopic created = new NewTopic(topic, Optional.of(1), Optional.empty()).configs(configs);
            admin.createTopics(List.of(created)).all().get();
        }
    }

    /** What consumers see of a record: of several headers with one name, the last. */
    record Arrived(@Nullable String key, String payload, Map<String, String> headers) {

        static Arrived of(ConsumerRecord<String, String> record) {
            Map<String, String> headers = new TreeMap<>();
            record.headers().forEach(header -> headers.put(header.key(), new String(header.value(), UTF_8)));
            return new Arrived(record.key(), record.value(), headers);
        }
    }

    /** All that is in a topic now. */
    List<Arrived> arrived(String topic) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", address), new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToEnd(List.of(partition));
            long end = consumer.position(partition);
            consumer.seekToBeginning(List.of(partition));
            List<Arrived> arrived = new ArrayList<>();
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> arrived.add(Arrived.of(record)));
            }
            return arrived;
        }
    }
}
