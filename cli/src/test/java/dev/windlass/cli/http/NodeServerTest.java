package dev.windlass.cli.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.health.Health;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    @Test
    void livenessIsAnsweredWhileManyAskForMetricsAndDoNotReadThem() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        for (int i = 0; i < 3_000; i++) {
            registry.counter("a.counter.with.a.name.that.is.rather.long.so.that.it.takes.some.room", "i", "" + i);
        }
        List<Socket> silent = new ArrayList<>();
        try (Windlass windlass =
                        Windlass.on(EmbeddedPostgres.shared().dataSource()).build();
                NodeServer server = NodeServer.start("127.0.0.1", 0, windlass.health(), registry)) {
            for (int i = 0; i < 40; i++) {
                Socket socket = new Socket();
                silent.add(socket);
                socket.setReceiveBufferSize(2_048);
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                socket.getOutputStream()
                        .write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
                                .repeat(20)
                                .getBytes(StandardCharsets.US_ASCII));
            }
            for (int i = 0; i < MANY; i++) {
                assertThat(HTTP.send(bounded(server, "/health/live"), HttpResponse.BodyHandlers.ofString())
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
        Health broken = new Health() {
            @Override
            public HealthReport all() {
                if (calls.incrementAndGet() == 1) {
                    throw new IllegalStateException("broken");
                }
                return well;
            }

            @Override
            public HealthReport live() {
                return well;
            }

            @Override
            public HealthReport ready() {
                return well;
            }
        };
        try (NodeServer server =
                NodeServer.start("127.0.0.1", 0, broken, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))) {
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
