package dev.windlass.cli;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows a line for each store, the worst first, and their sum. */
@Command(name = "status", description = "Show a line for each store with its numbers, the worst first, and their sum.")
final class StoresStatusCommand implements Callable<Integer> {
    private static final Comparator<Row> WORST_FIRST = Comparator.comparing((Row row) -> row.answer.condition())
            .thenComparing(row -> row.numbers.failed().number(), Comparator.reverseOrder())
            .thenComparing(row -> row.numbers.overdueTimers().number(), Comparator.reverseOrder())
            .thenComparing(row -> row.numbers.late(), Comparator.reverseOrder())
            .thenComparing(row -> row.answer.store().id());

    @Mixin
    private StoreOptions stores = new StoreOptions();

    @Mixin
    private StoreSurvey survey = new StoreSurvey();

    @Option(names = "--problems", description = "Only stores with something wrong.")
    private boolean problems;

    @Option(
            names = "--late",
            paramLabel = "TIME",
            defaultValue = "5m",
            converter = Distance.class,
            description = "What is due for longer, and not paused, is a problem (default: ${DEFAULT-VALUE}).")
    private Duration tolerated = Duration.ofMinutes(5);

    @Option(names = "--json", description = "Print one JSON object per line.")
    private boolean json;

    private record Row(StoreAnswer answer, StoreNumbers numbers, String problem) {}

    @Override
    public Integer call() {
        List<Row> rows = survey.ask(stores, true).stream()
                .map(this::row)
                .sorted(WORST_FIRST)
                .toList();
        Paper page = stores.page();
        List<Row> shown =
                rows.stream().filter(row -> !problems || !row.problem.isEmpty()).toList();
        if (json) {
            shown.forEach(row -> page.out().println(StoreJson.withStatus(row.answer)));
        } else {
            print(shown, page);
            page.sentence(total(rows));
        }
        page.out().flush();
        requireAnswers(rows);
        return 0;
    }

    private Row row(StoreAnswer answer) {
        Status status = answer.status();
        StoreNumbers numbers = status == null ? StoreNumbers.none() : StoreNumbers.of(status);
        return new Row(
                answer, numbers, status == null ? answer.inWords() : String.join(", ", numbers.problems(tolerated)));
    }

    private static void print(List<Row> rows, Paper page) {
        if (rows.isEmpty()) {
            return;
        }
        Table table = Table.ofNumbersAndText(
                "STORE", "READY", "DUE", "IN PROGRESS", "FAILED", "OLDEST DUE", "OVERDUE TIMERS", "PROBLEM");
        for (Row row : rows) {
            StoreNumbers numbers = row.numbers;
            boolean known = row.answer.status() != null;
            table.row(
                    row.answer.store().id(),
                    known ? numbers.ready().toString() : "-",
                    known ? numbers.due().toString() : "-",
                    known ? numbers.inProgress().toString() : "-",
                    known ? numbers.failed().toString() : "-",
                    numbers.oldestDue().isZero() ? "-" : Span.of(numbers.oldestDue()),
                    known ? numbers.overdueTimers().toString() : "-",
                    row.problem.isEmpty() ? "-" : row.problem);
        }
        table.print(page);
    }

    private static String total(List<Row> rows) {
        StoreNumbers sum = rows.stream().map(Row::numbers).reduce(StoreNumbers.none(), StoreNumbers::plus);
        long wrong = rows.stream().filter(row -> !row.problem.isEmpty()).count();
        String conditions = Stream.of(StoreCondition.values())
                .filter(condition -> condition != StoreCondition.UP_TO_DATE && count(rows, condition) > 0)
                .map(condition -> ", " + count(rows, condition) + " " + condition)
                .collect(Collectors.joining());
        return stores(rows.size()) + ", " + wrong + " with a problem" + conditions + "; in all " + sum;
    }

    private static String stores(int number) {
        return number == 1 ? "1 store" : number + " stores";
    }

    private static long count(List<Row> rows, StoreCondition condition) {
        return rows.stream().filter(row -> row.answer.condition() == condition).count();
    }

    /** A sum that lacks stores must not look like one that does not. */
    private static void requireAnswers(List<Row> rows) {
        long missing = rows.stream()
                .filter(row -> !row.answer.condition().hasAnswered())
                .count();
        if (missing > 0) {
            throw new CommandFailure("could not read the status of " + missing + " of " + stores(rows.size())
                    + "; the others are shown");
        }
    }
}
