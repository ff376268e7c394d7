package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;

/** Work that nobody takes, or that somebody took and did not end. */
final class LateWorkCheck implements Check {
    private static final int MOST = 1_000;

    private record Late(long stuck, long overdue, Duration oldest, boolean notAllSeen) {}

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
            Late late = patient.one(
                    "select m.stuck, m.overdue, m.oldest_ready_ms, m.more_topics from "
                            + patient.quoted(queue.table() + "_measure") + "(?) m",
                    row -> new Late(
                            row.getLong(1), row.getLong(2), Duration.ofMillis(row.getLong(3)), row.getBoolean(4)),
                    MOST);
            if (late.stuck > 0) {
                findings.problem(
                        "%s: %s in progress, and nobody has ended them or given them back"
                                .formatted(queue.word(), many(late.stuck)),
                        "Is a node running? Nodes give back what a lease ran out for. 'windlass diagnose stuck' lists them.");
            }
            if (late.overdue > 0) {
                findings.warning(
                        overdue(queue, late),
                        "Is a node running, and does it keep up? 'windlass diagnose totals' shows the topics.");
            } else if (late.notAllSeen) {
                findings.warning(
                        queue.word() + ": not all could be looked at; of what was, nothing is overdue",
                        "There are many topics, or an open transaction keeps entries of what has ended: see the transactions"
                                + " and slots above. 'windlass diagnose totals' shows some of the topics.");
            }
        }
        findings.okIfNothingElse("nothing is stuck or overdue");
    }

    /** Since when the oldest has been due is not known either where not all was seen. */
    private static String overdue(Patient.Queue queue, Late late) {
        return "%s: %s%s been due for more than five minutes, the oldest for %s%s"
                .formatted(
                        queue.word(),
                        late.notAllSeen ? "at least " : "",
                        late.overdue == 1 ? "1 has" : many(late.overdue) + " have",
                        Age.of(late.oldest),
                        late.notAllSeen ? " or longer; not all could be looked at" : "");
    }

    private static String many(long number) {
        return "%,d%s".formatted(number, number >= MOST ? " or more" : "");
    }
}
