package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.windlass.Windlass;
import dev.windlass.base.Feature;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.lease.Lease;
import dev.windlass.metrics.WindlassMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a node answers over HTTP, and what the alert rules and the dashboard ask of it. */
final class ServeHttpTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static Serving serving;

    @BeforeAll
    static void serve() {
        serving = Serving.ready(SERVER.jdbcUrl(), "http_test", "--demo", "--http-port", "0");
    }

    @AfterAll
    static void stop() throws Exception {
        serving.close();
        Sql.execute(SERVER.dataSource(), "drop schema http_test cascade");
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return serving.get(path);
    }

    @Test
    void healthIsJsonAsTheGuideHasIt() throws Exception {
        for (String path : List.of("/health", "/health/live", "/health/ready")) {
            HttpResponse<String> response = get(path);
            assertThat(response.statusCode()).as(path + ": " + response.body()).isEqualTo(200);
            assertThat(response.headers().firstValue("content-type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("application/json"));
            JsonNode json = new ObjectMapper().readTree(response.body());
            assertThat(json.get("status").asText()).isIn("Healthy", "Degraded");
            assertThat(json.get("totalDuration").isNumber()).isTrue();
            assertThat(json.get("checks"))
                    .isNotEmpty()
                    .allSatisfy(check -> assertThat(check.fieldNames())
                            .toIterable()
                            .containsExactly("name", "status", "duration", "description", "exception"));
        }
        assertThat(get("/nothing").statusCode()).isEqualTo(404);
    }

    @Test
    void aSchemaThatIsGoneMakesItUnreadyAndNotDead() throws Exception {
        Sql.execute(SERVER.dataSource(), "alter table http_test.windlass_version rename to hidden");
        try {
            eventually().until(() -> get("/health/ready").statusCode() == 503);
            assertThat(get("/health").statusCode()).isEqualTo(503);
            assertThat(get("/health/live").statusCode()).isEqualTo(200);
        } finally {
            Sql.execute(SERVER.dataSource(), "alter table http_test.hidden rename to windlass_version");
        }
        eventually().until(() -> get("/health/ready").statusCode() == 200);
    }

    /** A name that nobody shows makes a rule that never fires, and a panel that stays empty. */
    @Test
    void alertsAndDashboardAskForWhatAScrapeShows() throws Exception {
        Set<String> dashboard = names(Files.readString(root().resolve("deploy/grafana/windlass.json")));
        assertThat(dashboard)
                .contains(
                        "windlass_queue_stuck",
                        "windlass_timers_late_seconds_bucket",
                        "windlass_job_runs_ended_total",
                        "windlass_leases_acquired_seconds_bucket",
                        "windlass_loops",
                        "windlass_measure_age_seconds");
        Set<String> asked = names(Files.readString(root().resolve("deploy/prometheus/windlass-alerts.yml")));
        assertThat(asked).hasSizeGreaterThan(8);
        asked.addAll(dashboard);
        String leases = scrapeOfALeaseHolder();
        eventually().untilAsserted(() -> {
            String scrape = get("/metrics").body() + leases;
            assertThat(asked)
                    .allMatch(name -> scrape.lines()
                            .anyMatch(line -> line.startsWith(name + "{") || line.startsWith(name + " ")));
        });
    }

    /** The shop of the demo has no use for named leases; what a program shows of them that has. */
    private static String scrapeOfALeaseHolder() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (Windlass windlass = Windlass.on(SERVER.dataSource())
                        .options(WindlassOptions.defaults().withSchemaName("http_test"))
                        .listener(new WindlassMetrics(registry))
                        .only(Feature.LEASES)
                        .start();
                Lease lease = windlass.leases()
                        .tryAcquire("a lease", Duration.ofSeconds(30))
                        .orElseThrow()) {
            assertThat(lease.name()).isEqualTo("a lease");
            eventually().until(() -> registry.scrape().contains("windlass_leases_acquired_seconds_bucket"));
            return registry.scrape()
                    .lines()
                    .filter(line -> line.startsWith("windlass_leases_acquired"))
                    .collect(Collectors.joining("\n", "\n", ""));
        }
    }

    private static Set<String> names(String text) {
        Set<String> names = new TreeSet<>();
        Matcher name = Pattern.compile("\\b((?:windlass|timers|active|outbox|hikaricp)_[a-z_]+)\\b")
                .matcher(text);
        while (name.find()) {
            names.add(name.group(1));
        }
        return names;
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("deploy")) ? here : Objects.requireNonNull(here.getParent());
    }

    @Test
    void aPortThatIsTakenIsSaidAndOneThatNobodyAskedForIsNot() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            StringWriter err = new StringWriter();
            int code = Main.commandLine(Map.of("WINDLASS_USER", "postgres"))
                    .setOut(new PrintWriter(new StringWriter()))
                    .setErr(new PrintWriter(err))
                    .execute(
                            "serve",
                            "--schema",
                            "http_test",
                            "--url",
                            SERVER.jdbcUrl(),
                            "--http-port",
                            Integer.toString(taken.getLocalPort()));
            assertThat(code).isEqualTo(1);
            assertThat(err.toString()).contains("expected a free port for --http-port");
        }
    }
}
