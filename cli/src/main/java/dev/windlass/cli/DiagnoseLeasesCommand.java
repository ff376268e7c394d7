package dev.windlass.cli;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The leases of each queue, named leases, and which of those somebody waits for. */
@Command(
        name = "leases",
        description =
                "Show how many leases each queue has and when they end, and which named leases somebody waits for.")
final class DiagnoseLeasesCommand extends Diagnosis {

    @Mixin
    private MostOption most = new MostOption();

    @Override
    List<Row> read(Look look) throws SQLException {
        List<Row> rows = new ArrayList<>(look.ofQueues("_leases", most.most));
        String table = look.schema().leaseTable;
        if (look.has("lease", table)) {
            rows.addAll(look.ofTable("leases", table + "_active", most.most));
            rows.addAll(look.ofTable("leases", table + "_contention", most.most));
        }
        return rows;
    }

    @Override
    void print(List<Row> rows, Paper page) {
        Table active = new Table("QUEUE", "ACTIVE", "EARLIEST EXPIRY", "LATEST EXPIRY", "HELD FOR (MS)");
        Table awaited = new Table("AWAITED", "HELD", "PERMITS", "SINCE", "EXPIRES", "AWAITED UNTIL", "OWNER");
        for (Row row : rows) {
            if (isAwaited(row)) {
                awaited.row(
                        row.text("name"),
                        row.text("held"),
                        row.text("permits"),
                        row.text("acquiredAt"),
                        row.text("expiresAt"),
                        row.text("awaitedUntil"),
                        row.text("owner"));
            } else {
                active.row(
                        row.text("queue"),
                        row.count("active", most.most),
                        row.text("earliestExpiry"),
                        row.text("latestExpiry"),
                        row.text("averageAgeMs"));
            }
        }
        active.print(page);
        if (rows.stream().anyMatch(DiagnoseLeasesCommand::isAwaited)) {
            awaited.print(page);
        }
    }

    private static boolean isAwaited(Row row) {
        return row.columns().containsKey("awaitedUntil");
    }

    @Override
    String none() {
        return "no tables with leases";
    }
}
