package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;

/** Work that nobody takes, or that somebody took and did not end. */
final class LateWorkCheck implements Check {
    private static final int MOST = 1_000;

    @Override
    public String name() {
        return "work";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        for (Patient.Queue queue : patient.queues()) {
            long[] late = patient.one(
                    "select m.stuck, m.overdue, m.oldest_ready_ms from " + patient.quoted(queue.table() + "_measure")
                            + "(?) m",
                    row -> new long[] {row.getLong(1), row.getLong(2), row.getLong(3)},
                    MOST);
            if (late[0] > 0) {
                findings.problem(
                        "%s: %s in progress, and nobody has ended them or given them back"
                                .formatted(queue.word(), many(late[0])),
                        "Is a node running? Nodes give back what a lease ran out for. 'windlass diagnose stuck' lists them.");
            }
            if (late[1] > 0) {
                findings.warning(
                        "%s: %s been due for more than five minutes, the oldest for %s"
                                .formatted(
                                        queue.word(),
                                        late[1] == 1 ? "1 has" : many(late[1]) + " have",
                                        Age.of(Duration.ofMillis(late[2]))),
                        "Is a node running, and does it keep up? 'windlass diagnose totals' shows the topics.");
            }
        }
        findings.okIfNothingElse("nothing is stuck or overdue");
    }

    private static String many(long number) {
        return "%,d%s".formatted(number, number >= MOST ? " or more" : "");
    }
}
