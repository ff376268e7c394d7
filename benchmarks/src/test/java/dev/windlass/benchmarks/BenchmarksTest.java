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
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every scenario with every system, as small as can be. The scenarios themselves check that all messages were handled. */
final class BenchmarksTest {
    @TempDir
    static Path out;

    private static Results results = new Results();
    private static final StringWriter PROGRESS = new StringWriter();

    @BeforeAll
    static void measureAll() throws Exception {
        try (BenchmarkServer server = BenchmarkServer.embedded(false)) {
            Run run = new Run(server.server(), Scale.tiny(), new PrintWriter(PROGRESS, true));
            run.measure(Scenarios.all(), Systems.names(), out, "");
            results = run.results();
        }
    }

    @Test
    void nothingFails() {
        assertThat(results.leftOut().stream().filter(LeftOut::failure))
                .as("%s", PROGRESS)
                .isEmpty();
    }

    @Test
    void everyScenarioHasANumberOfWindlassAndOfEachPeerOrTheReasonWhyNot() {
        for (Scenario scenario : Scenarios.all()) {
            List<String> told = Stream.concat(
                            results.of(scenario.name()).stream().map(Series::system),
                            results.leftOut(scenario.name()).stream().map(LeftOut::system))
                    .distinct()
                    .toList();
            assertThat(told).as(scenario.name()).hasSizeGreaterThanOrEqualTo(3);
            if (!scenario.name().equals("leases")) {
                assertThat(told)
                        .as(scenario.name())
                        .contains("db-scheduler", "jobrunr", "quartz", "transaction-outbox");
            }
        }
    }

    @Test
    void theRowsOfATableHaveAsManyCellsAsItsHead() throws Exception {
        List<String> lines = Files.readAllLines(out.resolve("benchmarks.md"));
        assertThat(lines).contains("# Benchmarks", "## In short", "## Settings");
        for (int i = 1; i < lines.size(); i++) {
            if (lines.get(i).startsWith("|") && lines.get(i - 1).startsWith("|")) {
                assertThat(cells(lines.get(i))).as(lines.get(i)).isEqualTo(cells(lines.get(i - 1)));
            }
        }
    }

    private static long cells(String line) {
        return line.chars().filter(c -> c == '|').count();
    }

    @Test
    void everyPictureOfThePageIsThereAndIsXml() throws Exception {
        List<String> pictures = Files.readAllLines(out.resolve("benchmarks.md")).stream()
                .filter(line -> line.startsWith("!["))
                .map(line -> line.substring(line.indexOf('(') + 1, line.length() - 1))
                .toList();
        assertThat(pictures).hasSizeGreaterThan(10);
        for (String picture : pictures) {
            var document = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(out.resolve(picture).toFile());
            assertThat(document.getElementsByTagName("rect").getLength())
                    .as(picture)
                    .isPositive();
        }
    }
}
