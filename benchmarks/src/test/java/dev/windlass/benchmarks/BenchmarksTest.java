package dev.windlass.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.benchmarks.report.Results;
import dev.windlass.benchmarks.report.Results.LeftOut;
import dev.windlass.benchmarks.report.Series;
import dev.windlass.benchmarks.scenario.Scale;
import dev.windlass.benchmarks.scenario.Scenario;
import dev.windlass.benchmarks.scenario.Scenarios;
import dev.windlass.benchmarks.system.Systems;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every scenario with every system, as small as can be. That all messages were handled, and that the database says so, is checked
 * by the scenarios. Nothing is timed, so systems run side by side: most of them wait for their next poll.
 */
final class BenchmarksTest {
    private static final Map<String, List<String>> GROUPS = Map.of(
            "windlass",
                    Systems.names().stream()
                            .filter(name -> name.startsWith("windlass"))
                            .toList(),
            "db-scheduler", List.of("db-scheduler"),
            "jobrunr", List.of("jobrunr"),
            "quartz", List.of("quartz"),
            "transaction-outbox", List.of("transaction-outbox"));

    @TempDir
    static Path out;

    private static final Map<String, Results> RESULTS = new LinkedHashMap<>();
    private static final StringWriter PROGRESS = new StringWriter();

    @BeforeAll
    static void measureAll() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(GROUPS.size());
        try (BenchmarkServer server = BenchmarkServer.embedded(false)) {
            Map<String, Future<Results>> running = new LinkedHashMap<>();
            GROUPS.forEach((name, systems) -> running.put(name, threads.submit(() -> {
                Run run = new Run(server.server(), Scale.tiny(), new PrintWriter(PROGRESS, true));
                run.measure(Scenarios.all(), systems, out.resolve(name), "");
                return run.results();
            })));
            for (String name : running.keySet()) {
                RESULTS.put(name, running.get(name).get());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void everySystemIsInAGroup() {
        assertThat(GROUPS.values().stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(Systems.names());
    }

    @Test
    void nothingFails() {
        assertThat(RESULTS.values().stream()
                        .flatMap(results -> results.leftOut().stream())
                        .filter(LeftOut::failure))
                .as("%s", PROGRESS)
                .isEmpty();
    }

    @Test
    void everySystemHasANumberInEveryScenarioOrAReasonWhyNot() {
        RESULTS.forEach((name, results) -> {
            for (Scenario scenario : Scenarios.all()) {
                int told = results.of(scenario.name()).size()
                        + results.leftOut(scenario.name()).size();
                assertThat(told).as("%s of %s", scenario.name(), name).isPositive();
            }
        });
    }

    @Test
    void windlassHasANumberInEveryScenario() {
        for (Scenario scenario : Scenarios.all()) {
            assertThat(RESULTS.getOrDefault("windlass", new Results()).of(scenario.name()).stream()
                            .map(Series::measure))
                    .as(scenario.name())
                    .isNotEmpty();
        }
    }

    @Test
    void theRowsOfATableHaveAsManyCellsAsItsHead() throws Exception {
        for (String name : GROUPS.keySet()) {
            List<String> lines = Files.readAllLines(out.resolve(name).resolve("benchmarks.md"));
            assertThat(lines).contains("# Benchmarks", "## Settings");
            for (int i = 1; i < lines.size(); i++) {
                if (lines.get(i).startsWith("|") && lines.get(i - 1).startsWith("|")) {
                    assertThat(cells(lines.get(i))).as(lines.get(i)).isEqualTo(cells(lines.get(i - 1)));
                }
            }
        }
    }

    private static long cells(String line) {
        return line.chars().filter(c -> c == '|').count();
    }

    @Test
    void everyPictureOfAPageIsThereAndIsXml() throws Exception {
        for (String name : GROUPS.keySet()) {
            List<String> pictures = Files.readAllLines(out.resolve(name).resolve("benchmarks.md")).stream()
                    .filter(line -> line.startsWith("!["))
                    .map(line -> line.substring(line.indexOf('(') + 1, line.length() - 1))
                    .toList();
            assertThat(pictures).as(name).isNotEmpty();
            for (String picture : pictures) {
                var document = DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(out.resolve(name).resolve(picture).toFile());
                assertThat(document.getElementsByTagName("rect").getLength())
                        .as(picture)
                        .isPositive();
            }
        }
    }
}
