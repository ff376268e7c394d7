package dev.windlass.cli;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** How late timers and runs of jobs were. */
@Command(
        name = "delays",
        description =
                "Show how late timers became messages, and how long after their ticks runs of jobs were written, hour by hour.")
final class DiagnoseDelaysCommand extends Diagnosis {

    @Mixin
    private MostOption most = new MostOption();

    @Override
    List<Row> read(Look look) throws SQLException {
        List<Row> rows = new ArrayList<>();
        String table = look.schema().table;
        if (look.has("schedule", table)) {
            rows.addAll(look.ofTable("timers", table + "_timer_delays", most.most));
            rows.addAll(look.ofTable("runs", table + "_job_run_delays", most.most));
        }
        return rows;
    }

    @Override
    void print(List<Row> rows, Paper page) {
        Table table = new Table("QUEUE", "HOUR", "NUMBER", "AVERAGE", "P99", "LATEST");
        for (Row row : rows) {
            table.row(
                    row.text("queue"),
                    row.text("hour"),
                    row.text("messages") + (isPart(row) ? "+" : ""),
                    row.span("averageMs"),
                    row.span("p99Ms"),
                    (isPart(row) ? "at least " : "") + row.span("maxMs"));
        }
        table.print(page);
        page.sentence(
                "Of the %,d timers, and runs, that were done last, and as many that failed last.".formatted(most.most));
        if (rows.stream().anyMatch(DiagnoseDelaysCommand::isPart)) {
            page.sentence("With a +, the hour may have more of them, and later ones: --most looks at more.");
        }
    }

    private static boolean isPart(Row row) {
        return row.get("more").equals(Optional.of(true));
    }

    @Override
    String none() {
        return "no timers or runs among what ended last";
    }
}
