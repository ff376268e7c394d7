package dev.windlass.benchmarks;

import dev.windlass.benchmarks.report.BarChart;
import dev.windlass.benchmarks.report.Machine;
import dev.windlass.benchmarks.report.Page;
import dev.windlass.benchmarks.report.Results;
import dev.windlass.benchmarks.report.Series;
import dev.windlass.benchmarks.scenario.Lab;
import dev.windlass.benchmarks.scenario.Scale;
import dev.windlass.benchmarks.scenario.Scenario;
import dev.windlass.benchmarks.system.Server;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Systems;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One run: all scenarios one after the other, then the page. */
final class Run {
    private final Server server;
    private final Scale scale;
    private final PrintWriter progress;
    private final Results results = new Results();

    Run(Server server, Scale scale, PrintWriter progress) {
        this.server = server;
        this.scale = scale;
        this.progress = progress;
    }

    Results results() {
        return results;
    }

    /** Returns whether nothing failed. The page is written after every scenario, so that a run that is ended early leaves one. */
    boolean measure(List<Scenario> scenarios, List<String> names, Path out, String how) throws Exception {
        List<SystemUnderTest> systems = new ArrayList<>();
        try (var pool = server.pool("public", 1)) {
            Map<String, String> machine = Machine.describe(pool);
            machine.forEach((fact, value) -> progress.println(fact + ": " + value));
            for (String name : names) {
                SystemUnderTest system = Systems.open(name, server);
                systems.add(system);
                system.install();
            }
            Lab lab = new Lab(server, systems, scale, results, progress);
            lab.warmUp();
            List<Scenario> measured = new ArrayList<>();
            for (Scenario scenario : scenarios) {
                lab.run(scenario);
                measured.add(scenario);
                write(measured, systems, machine, out, how);
            }
        } finally {
            systems.forEach(SystemUnderTest::close);
        }
        progress.println("written: " + out.resolve("benchmarks.md"));
        return results.leftOut().stream().noneMatch(Results.LeftOut::failure);
    }

    private void write(
            List<Scenario> scenarios, List<SystemUnderTest> systems, Map<String, String> machine, Path out, String how)
            throws IOException {
        Path charts = Files.createDirectories(out.resolve("benchmarks"));
        for (Scenario each : scenarios) {
            List<Series> bars = results.of(each.name(), each.shown());
            if (!bars.isEmpty()) {
                Files.writeString(
                        charts.resolve(each.name() + ".svg"), BarChart.of(each.title() + ": " + each.shown(), bars));
            }
        }
        List<Page.Section> sections = scenarios.stream()
                .map(each -> new Page.Section(each.name(), each.title(), each.about(), each.shown()))
                .toList();
        List<Page.Setup> setups = systems.stream()
                .map(each -> new Page.Setup(each.name(), each.version(), each.settings()))
                .toList();
        Files.writeString(out.resolve("benchmarks.md"), Page.of(results, sections, setups, machine, how));
    }
}
