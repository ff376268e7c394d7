package dev.windlass.cli;

import java.sql.SQLException;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists what somebody began, in whatever queue, and nobody looks after any more. */
@Command(
        name = "stuck",
        description =
                "List what is in progress and past twice its lease, and what has been open for an hour in the inbox without its queue.")
final class DiagnoseStuckCommand extends Diagnosis {

    @Option(
            names = "--most",
            paramLabel = "N",
            defaultValue = "10",
            converter = MostOption.UpTo.class,
            description = "Show so many of each queue, the oldest first (default: ${DEFAULT-VALUE}).")
    private int most = 10;

    @Override
    List<Row> read(Look look) throws SQLException {
        return DiagnosedMessages.of(look.ofQueues("_stuck", most));
    }

    @Override
    void print(List<Row> rows, Paper page) {
        DiagnosedMessages.print(rows, page);
        rows.stream()
                .collect(Collectors.groupingBy(row -> row.text("queue"), TreeMap::new, Collectors.counting()))
                .forEach((queue, shown) -> {
                    if (shown == most) {
                        page.sentence("%s: these are the %,d oldest; --most shows more.".formatted(queue, most));
                    }
                });
    }

    @Override
    String none() {
        return "nothing is stuck";
    }
}
