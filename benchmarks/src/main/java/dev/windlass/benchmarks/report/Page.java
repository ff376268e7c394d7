package dev.windlass.benchmarks.report;

import dev.windlass.benchmarks.report.Results.LeftOut;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The page of a run, as Markdown. */
public final class Page {
    private final Results results;
    private final List<Section> sections;
    private final StringBuilder text = new StringBuilder();

    /**
     * A scenario as the page shows it.
     *
     * @param shown the measure of its chart
     */
    public record Section(String name, String title, String about, String shown) {}

    /** How a system was set up. */
    public record Setup(String system, String version, String settings) {}

    private Page(Results results, List<Section> sections) {
        this.results = results;
        this.sections = sections;
    }

    /** The whole page; its charts are {@code benchmarks/<name>.svg} beside it. */
    public static String of(
            Results results, List<Section> sections, List<Setup> setups, Map<String, String> machine, String how) {
        Page page = new Page(results, sections);
        page.paragraph("# Benchmarks");
        page.paragraph("All numbers are of one run, made by `./benchmarks/run" + how
                + "` on the machine below. A number is the"
                + " median of the rounds, with the lowest and the highest in brackets if there was more than one; the rounds of"
                + " all systems are interleaved, and ratios are taken within a round. A message counts as handled when the"
                + " database says so. Numbers of another machine differ; ratios should not differ by much.");
        page.paragraph(
                "`./benchmarks/run` needs Maven and a JDK, takes about an hour, and writes this page; with `--quick`, some"
                        + " minutes. `--only` and `--systems` choose, `--full` adds the largest backlog, `--url` takes a server that is"
                        + " there, `--help` tells the rest.");
        if (sections.stream()
                .flatMap(each -> results.of(each.name()).stream())
                .allMatch(each -> each.values().size() == 1)) {
            page.paragraph("This run had one round: its numbers have no spread, and are a hint rather than a result.");
        }
        page.headlines();
        page.ahead();
        page.table(
                List.of("machine", ""),
                machine.entrySet().stream()
                        .map(fact -> List.of(fact.getKey(), fact.getValue()))
                        .toList());
        sections.forEach(page::section);
        page.paragraph("## Settings");
        page.paragraph(
                "Each system is used through its public API. What was tried was tried in short drains, two rounds each, on a"
                        + " busy machine.");
        page.table(
                List.of("system", "version", "settings"),
                setups.stream()
                        .map(setup -> List.of(setup.system(), setup.version(), setup.settings()))
                        .toList());
        return page.text.toString().stripTrailing() + "\n";
    }

    static boolean isWindlass(String system) {
        return system.startsWith("windlass") || system.startsWith("inbox") || system.startsWith("work queue");
    }

    static boolean isYardstick(String system) {
        return system.startsWith("server limit") || system.startsWith("bare") || system.startsWith("outbox");
    }

    private void headlines() {
        List<String> lines = new ArrayList<>();
        results.find("drain", "drained", "windlass-tuned").ifPresent(drained -> {
            String part = results.find("drain", "of the server's limit", "windlass-tuned")
                    .map(limit -> ", %s of what the server itself can do"
                            .formatted(limit.unit().format(limit.median())))
                    .orElse("");
            lines.add("Drain: %s messages a second, tuned%s%s."
                    .formatted(drained.unit().format(drained.median()), part, bestPeer("drain", "drained")));
        });
        results.find("latency", "50/s, p50", "windlass")
                .ifPresent(p50 -> lines.add(
                        "From commit to handler at 50/s, as installed: %s ms at the median, %s ms at the 99th percentile."
                                .formatted(
                                        p50.unit().format(p50.median()),
                                        results.find("latency", "50/s, p99", "windlass")
                                                .map(p99 -> p99.unit().format(p99.median()))
                                                .orElse("?"))));
        results.find("enqueue", "of bare INSERTs, 4 threads", "windlass")
                .ifPresent(part ->
                        lines.add("Enqueue in a business transaction: %s of the rate of bare INSERTs of the same rows."
                                .formatted(part.unit().format(part.median()))));
        if (!lines.isEmpty()) {
            paragraph("## In short");
            list(lines);
        }
    }

    private String bestPeer(String scenario, String measure) {
        return results.of(scenario, measure).stream()
                .filter(each -> !isWindlass(each.system()) && !isYardstick(each.system()))
                .max((a, b) -> Double.compare(a.median(), b.median()))
                .map(best -> "; the next library is %s with %s"
                        .formatted(best.system(), best.unit().format(best.median())))
                .orElse("");
    }

    /** Found in the numbers, not chosen. */
    private void ahead() {
        List<String> lines = new ArrayList<>();
        for (Section section : sections) {
            results.of(section.name()).stream()
                    .map(Series::measure)
                    .distinct()
                    .forEach(measure -> ahead(section, results.of(section.name(), measure), lines));
        }
        paragraph("## Where another library is ahead");
        if (lines.isEmpty()) {
            paragraph("In none of the measures of this run.");
        } else {
            list(lines);
        }
    }

    private static void ahead(Section section, List<Series> all, List<String> lines) {
        List<Series> windlass =
                all.stream().filter(each -> isWindlass(each.system())).toList();
        if (windlass.isEmpty() || windlass.get(0).unit() == Unit.PART) {
            return;
        }
        Series best = windlass.stream().reduce((a, b) -> isBetter(b, a) ? b : a).get();
        all.stream()
                .filter(each -> !isWindlass(each.system()) && !isYardstick(each.system()))
                .filter(each -> isBetter(each, best) && each.median() >= 0)
                .forEach(each -> lines.add("%s, %s: %s %s, %s %s %s."
                        .formatted(
                                section.title(),
                                each.measure(),
                                each.system(),
                                each.unit().format(each.median()),
                                best.system(),
                                best.unit().format(best.median()),
                                each.unit().text())));
    }

    private static boolean isBetter(Series one, Series other) {
        return one.unit().higherIsBetter() ? one.median() > other.median() : one.median() < other.median();
    }

    private void section(Section section) {
        List<Series> all = results.of(section.name());
        paragraph("## " + section.title());
        paragraph(section.about());
        if (!results.of(section.name(), section.shown()).isEmpty()) {
            paragraph("![%s](benchmarks/%s.svg)".formatted(section.title(), section.name()));
        }
        List<String> measures = all.stream().map(Series::measure).distinct().toList();
        List<String> systems = all.stream().map(Series::system).distinct().toList();
        if (!systems.isEmpty()) {
            numbers(section, measures, systems);
        }
        list(results.leftOut(section.name()).stream().map(Page::told).toList());
    }

    private void numbers(Section section, List<String> measures, List<String> systems) {
        List<String> head = new ArrayList<>(List.of(""));
        measures.forEach(measure -> head.add(measure + ", "
                + results.of(section.name(), measure).get(0).unit().text()));
        List<List<String>> rows = new ArrayList<>();
        for (String system : systems) {
            List<String> row = new ArrayList<>(List.of(system));
            measures.forEach(measure -> row.add(results.find(section.name(), measure, system)
                    .map(Series::text)
                    .orElse("–")));
            rows.add(row);
        }
        table(head, rows);
    }

    private static String told(LeftOut one) {
        return "Left out: " + one.system() + ", "
                + one.reason().lines().findFirst().orElse("") + ".";
    }

    private void table(List<String> head, List<List<String>> rows) {
        row(head);
        row(head.stream().map(each -> "---").toList());
        rows.forEach(this::row);
        text.append('\n');
    }

    private void row(List<String> cells) {
        text.append("| ")
                .append(String.join(
                        " | ",
                        cells.stream().map(cell -> cell.replace("|", "\\|")).toList()))
                .append(" |\n");
    }

    private void list(List<String> lines) {
        lines.forEach(line -> text.append("- ").append(line).append('\n'));
        text.append(lines.isEmpty() ? "" : "\n");
    }

    private void paragraph(String words) {
        text.append(words).append("\n\n");
    }
}
