package dev.windlass.cli;

import java.sql.SQLException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists what lost its lease again and again: it takes too long, or it kills its process. */
@Command(
        name = "lapsed",
        description =
                "List messages whose leases have run out several times: they take too long, or kill their process.")
final class DiagnoseLapsedCommand extends Diagnosis {

    @Mixin
    private MostOption most = new MostOption();

    @Option(
            names = "--least",
            paramLabel = "N",
            defaultValue = "2",
            description = "So many times at least (default: ${DEFAULT-VALUE}).")
    private int least = 2;

    @Override
    List<Row> read(Look look) throws SQLException {
        return DiagnosedMessages.of(look.ofQueues("_lapsed", least, most.most));
    }

    @Override
    void print(List<Row> rows, Paper page) {
        DiagnosedMessages.print(rows, page);
    }

    @Override
    String none() {
        return "no message has lost its lease that often";
    }
}
