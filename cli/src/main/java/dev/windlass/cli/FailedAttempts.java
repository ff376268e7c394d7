package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.operator.FailedAttempt;
import java.util.List;

/** The attempts of one message, timer or run that failed. */
final class FailedAttempts {

    private FailedAttempts() {}

    static void print(List<FailedAttempt> failures, OutboxSession session) {
        session.out().println();
        if (failures.isEmpty()) {
            session.out().println("no failed attempts");
            return;
        }
        Table table = new Table("FAILED AT", "ATTEMPT", "NODE", "ERROR");
        for (FailedAttempt failure : failures) {
            table.row(
                    Printable.seconds(failure.at()),
                    Integer.toString(failure.attempt()),
                    failure.node().orElse("-"),
                    failure.error().orElse("-"));
        }
        table.print(session.page());
    }

    static ObjectNode add(List<FailedAttempt> failures, ObjectNode json) {
        failures.forEach(failure -> json.withArray("/failures")
                .addObject()
                .put("at", failure.at().toString())
                .put("attempt", failure.attempt())
                .put("node", Json.text(failure.node()))
                .put("error", Json.text(failure.error())));
        return json;
    }
}
