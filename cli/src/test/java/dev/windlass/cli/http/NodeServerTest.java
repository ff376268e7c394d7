package dev.windlass.cli.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.health.Health;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many who ask at once. */
final class NodeServerTest {
    private static final int MANY = 100;
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final CountDownLatch answer = new CountDownLatch(1);
    private final AtomicInteger calls = new AtomicInteger();

    private HealthFinding hang() throws InterruptedException {
        calls.incrementAndGet();
        answer.await();
        return HealthFinding.healthy("at last");
    }

    @Test
    void livenessIsAnsweredWhileManyWaitForAllAndTheseShareAnAnswer() throws Exception {
        HealthOptions patient =
                HealthOptions.defaults().withCacheFor(Duration.ZERO).withTimeout(Duration.ofMinutes(10));
        try (Windlass windlass = Windlass.on(EmbeddedPostgres.shared().dataSource())
                        .health(patient)
                        .healthCheck("hangs", this::hang)
                        .build();
                NodeServer server = NodeServer.start(
                        "127.0.0.1", 0, windlass.health(), new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))) {
            List<CompletableFuture<HttpResponse<String>>> askers = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                askers.add(HTTP.sendAsync(request(server, "/health"), HttpResponse.BodyHandlers.ofString()));
                assertThat(HTTP.send(request(server, "/health/live"), HttpResponse.BodyHandlers.ofString())
                                .statusCode())
                        .isEqualTo(200);
            }
            assertThat(askers).noneMatch(CompletableFuture::isDone);

            answer.countDown();

            for (CompletableFuture<HttpResponse<String>> asker : askers) {
                assertThat(asker.get().body()).contains("at last");
            }
            assertThat(calls.get()).isLessThan(MANY);
        }
    }

    /** Each asks for some hundred kilobytes, again and again, and takes none of it. */
    private static List<Socket> askInSilence(NodeServer server, String path) throws IOException {
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Socket socket = new Socket();
            silent.add(socket);
            socket.setReceiveBufferSize(2_048);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
                            .repeat(20)
                            .getBytes(StandardCharsets.US_ASCII));
        }
        return silent;
    }

    private static void assertManyAreAnsweredBesideSilentOnes(NodeServer server, String path, String silently)
            throws Exception {
        List<Socket> silent = askInSilence(server, silently);
        try {
            for (int i = 0; i < MANY; i++) {
                assertThat(HTTP.send(bounded(server, path), HttpResponse.BodyHandlers.ofString())
                                .statusCode())
                        .isEqualTo(200);
            }
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void livenessIsAnsweredWhileManyAskForMetricsAndDoNotReadThem() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        for (int i = 0; i < 3_000; i++) {
            registry.counter("a.counter.with.a.name.that.is.rather.long.so.that.it.takes.some.room", "i", "" + i);
        }
        try (Windlass windlass =
                        Windlass.on(EmbeddedPostgres.shared().dataSource()).build();
                NodeServer server = NodeServer.start("127.0.0.1", 0, windlass.health(), registry)) {
            assertManyAreAnsweredBesideSilentOnes(server, "/health/live", "/metrics");
        }
    }

    @Test
    void whoAsksForHealthAndDoesNotReadItKeepsNobodyFromTheSameAnswer() throws Exception {
        HealthReport report = HealthReport.of(
                List.of(new HealthReport.Entry(
                        "a check", HealthStatus.HEALTHY, Duration.ZERO, "x".repeat(300_000), Optional.empty())),
                Duration.ZERO);
        try (NodeServer server = start(new Answering(() -> report))) {
            assertManyAreAnsweredBesideSilentOnes(server, "/health", "/health");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/health", "/health/live", "/health/ready", "/metrics"})
    void whoAsksForTheHeadAloneIsAnswered(String path) throws Exception {
        try (NodeServer server = start(new Answering(() -> HealthReport.of(List.of(), Duration.ZERO)))) {
            HttpRequest head = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                    .method("HEAD", HttpRequest.BodyPublishers.noBody())
                    .timeout(Duration.ofSeconds(25))
                    .build();
            assertThat(HTTP.send(head, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);
        }
    }

    private static NodeServer start(Health health) throws Exception {
        return NodeServer.start("127.0.0.1", 0, health, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
    }

    /** One answer for every question. */
    private record Answering(Supplier<HealthReport> answer) implements Health {
        @Override
        public HealthReport all() {
            return answer.get();
        }

        @Override
        public HealthReport live() {
            return answer.get();
        }

        @Override
        public HealthReport ready() {
            return answer.get();
        }
    }

    @Test
    void scrapesBeyondAFewAtOnceAreRefusedAndTheirPlacesComeBack() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        CountDownLatch scraped = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger scraping = new AtomicInteger();
        registry.gauge("slow", this, self -> {
            if (scraping.incrementAndGet() == 8) {
                scraped.countDown();
            }
            await(goOn);
            return 1;
        });
        try (Windlass windlass =
                        Windlass.on(EmbeddedPostgres.shared().dataSource()).build();
                NodeServer server = NodeServer.start("127.0.0.1", 0, windlass.health(), registry)) {
            List<CompletableFuture<HttpResponse<String>>> askers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                askers.add(HTTP.sendAsync(request(server, "/metrics"), HttpResponse.BodyHandlers.ofString()));
            }
            scraped.await();
            assertThat(HTTP.send(bounded(server, "/metrics"), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(503);
            goOn.countDown();
            for (CompletableFuture<HttpResponse<String>> asker : askers) {
                assertThat(asker.get().statusCode()).isEqualTo(200);
                assertThat(asker.get().body()).contains("slow 1.0");
            }
            Awaitility.await()
                    .until(() -> HTTP.send(bounded(server, "/metrics"), HttpResponse.BodyHandlers.ofString())
                                    .statusCode()
                            == 200);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            -                                                                | text/plain
            */*                                                              | text/plain
            application/openmetrics-text                                     | application/openmetrics-text
            application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3 | application/openmetrics-text
            text/plain, application/openmetrics-text; q=0.2                  | text/plain
            application/openmetrics-text;q=0                                 | text/plain
            application/openmetrics-text;q=nonsense                          | application/openmetrics-text
            application/openmetrics-text;q=0.0.1                             | text/plain""")
    void metricsComeInTheFormatThatIsAskedFor(@Nullable String accepted, String type) {
        assertThat(ScrapeFormat.of(accepted == null ? List.of() : List.of(accepted)))
                .startsWith(type + ";");
    }

    private static HttpRequest request(NodeServer server, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .build();
    }

    @Test
    void whoeverAsksIsAnsweredAlsoIfTheQuestionFailsAndTheNextIsAskedAgain() throws Exception {
        HealthReport well = HealthReport.of(List.of(), Duration.ZERO);
        Health broken = new Answering(() -> {
            if (calls.incrementAndGet() == 1) {
                throw new IllegalStateException("broken");
            }
            return well;
        });
        try (NodeServer server = start(broken)) {
            assertThat(HTTP.send(request(server, "/health"), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(503);
            assertThat(HTTP.send(request(server, "/health"), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    /** One that fails, instead of waiting until the server gives up those who do not read. */
    private static HttpRequest bounded(NodeServer server, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .timeout(Duration.ofSeconds(25))
                .build();
    }
}
