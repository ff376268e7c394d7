package dev.windlass.cli;

import java.util.List;
import java.util.Set;

/** Messages of all queues in one list. */
final class DiagnosedMessages {
    private static final Set<String> COLUMNS = Set.of(
            "queue",
            "id",
            "source",
            "messageId",
            "topic",
            "status",
            "claimedAt",
            "lockedUntil",
            "processedBy",
            "retryCount",
            "leaseExpiries");

    private DiagnosedMessages() {}

    static List<Row> of(List<Row> rows) {
        return rows.stream().map(row -> row.only(COLUMNS)).toList();
    }

    static void print(List<Row> rows, Paper page) {
        Table table = new Table("QUEUE", "ID", "TOPIC", "BEGUN", "LEASE UNTIL", "FAILED", "LOST", "BY");
        for (Row row : rows) {
            table.row(
                    row.text("queue"),
                    row.get("id").isPresent() ? row.text("id") : row.text("source") + " " + row.text("messageId"),
                    row.text("topic"),
                    row.text("claimedAt"),
                    row.text("lockedUntil"),
                    row.text("retryCount"),
                    row.text("leaseExpiries"),
                    row.text("processedBy"));
        }
        table.print(page);
    }
}
