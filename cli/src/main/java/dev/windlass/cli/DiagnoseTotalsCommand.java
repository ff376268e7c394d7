package dev.windlass.cli;

import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** How many messages of each topic are in which state. */
@Command(
        name = "totals",
        description = "Show how many messages of each topic are in which state, and how often they were tried again.")
final class DiagnoseTotalsCommand extends Diagnosis {

    @Mixin
    private MostOption most = new MostOption();

    @Override
    List<Row> read(Look look) throws SQLException {
        return look.ofQueues("_totals", most.most);
    }

    @Override
    void print(List<Row> rows, Paper page) {
        Table table = new Table("QUEUE", "TOPIC", "READY", "WAITING", "IN PROGRESS", "DONE", "FAILED", "RETRIES");
        for (Row row : rows) {
            table.row(
                    row.text("queue"),
                    row.text("topic"),
                    row.count("ready", most.most),
                    row.count("waiting", most.most),
                    row.count("inProgress", most.most),
                    row.count("done", most.most),
                    row.count("failed", most.most),
                    row.text("averageRetries"));
        }
        table.print(page);
        page.sentence(
                ("Of a topic up to %1$,d ready and %1$,d failed ones are counted, and of each queue the %1$,d that were done last, and"
                                + " as many in progress and waiting. Retries are the average of these, without the ready ones.")
                        .formatted(most.most));
        if (rows.stream().anyMatch(row -> row.get("moreTopics").equals(Optional.of(true)))) {
            page.sentence("There are more topics than were looked at, and not all are shown.");
        }
    }

    @Override
    String none() {
        return "no messages";
    }
}
