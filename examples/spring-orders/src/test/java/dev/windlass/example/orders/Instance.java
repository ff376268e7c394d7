package dev.windlass.example.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.util.FileSystemUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The packaged application as a process, on a port that the system has chosen, and what it answers. */
final class Instance implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final Pattern STARTED = Pattern.compile("Started OrdersApplication in");
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final JsonMapper JSON = new JsonMapper();

    private final Process process;
    private final Path log;
    private final int port;

    /** Returns when it answers requests; everything it needs to know comes by the environment. */
    static Instance start(String name, Path jar, Map<String, String> environment) throws IOException {
        Path log = Path.of("target", name + ".log").toAbsolutePath();
        ProcessBuilder builder = new ProcessBuilder(
                        List.of(JAVA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", jar.toString()))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        builder.environment().put("SERVER_PORT", "0");
        builder.environment().put("WINDLASS_NODE_NAME", name);
        return new Instance(builder.start(), log);
    }

    static Path jar() {
        return Path.of(System.getProperty("orders.jar", "target/orders.jar"));
    }

    /** The jar taken apart into layers, and these put together, as the image has them. */
    static Path jarInLayers() throws Exception {
        Path layers = Path.of("target", "layers").toAbsolutePath();
        FileSystemUtils.deleteRecursively(layers);
        Process extract = new ProcessBuilder(
                        JAVA,
                        "-Djarmode=tools",
                        "-jar",
                        jar().toString(),
                        "extract",
                        "--layers",
                        "--destination",
                        layers.toString())
                .inheritIO()
                .start();
        assertThat(extract.waitFor()).isZero();
        for (String layer : List.of("dependencies", "spring-boot-loader", "snapshot-dependencies", "application")) {
            FileSystemUtils.copyRecursively(layers.resolve(layer), layers.resolve("app"));
        }
        return layers.resolve("app/orders.jar");
    }

    private Instance(Process process, Path log) {
        this.process = process;
        this.log = log;
        await().atMost(Duration.ofMinutes(2)).until(() -> !process.isAlive() || logged(STARTED));
        Matcher told = PORT.matcher(log());
        assertThat(told.find()).as(log()).isTrue();
        this.port = Integer.parseInt(told.group(1));
    }

    String log() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean logged(Pattern pattern) {
        return pattern.matcher(log()).find();
    }

    /** Whether it wants to get requests, as a load balancer asks. */
    boolean isReady() throws Exception {
        return HTTP.send(
                                HttpRequest.newBuilder(at("/actuator/health/readiness"))
                                        .build(),
                                HttpResponse.BodyHandlers.discarding())
                        .statusCode()
                == 200;
    }

    JsonNode get(String path) {
        return JSON.readTree(text(path));
    }

    String text(String path) {
        return send(HttpRequest.newBuilder(at(path)).GET().build());
    }

    JsonNode post(String path, Object body) {
        return JSON.readTree(send(HttpRequest.newBuilder(at(path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)))
                .build()));
    }

    private URI at(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    private static String send(HttpRequest request) {
        try {
            HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode())
                    .as("%s %s: %s", request.method(), request.uri(), answer.body())
                    .isBetween(200, 299);
            return answer.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** SIGTERM. */
    void terminate() {
        process.destroy();
    }

    int awaitExit() {
        return process.onExit().join().exitValue();
    }

    @Override
    public void close() {
        terminate();
        awaitExit();
    }
}
