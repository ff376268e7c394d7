package dev.windlass.cli;

import java.sql.SQLException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists what somebody began, in whatever queue, and nobody looks after any more. */
@Command(
        name = "stuck",
        description =
                "List what is in progress and past twice its lease, and what has been open for an hour in the inbox without its queue.")
final class DiagnoseStuckCommand extends Diagnosis {

    @Mixin
    private MostOption most = new MostOption();

    @Override
    List<Row> read(Look look) throws SQLException {
        return DiagnosedMessages.of(look.ofQueues("_stuck", most.most));
    }

    @Override
    void print(List<Row> rows, Paper page) {
        DiagnosedMessages.print(rows, page);
    }

    @Override
    String none() {
        return "nothing is stuck";
    }
}
