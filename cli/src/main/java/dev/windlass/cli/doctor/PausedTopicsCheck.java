package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;

/** Topics that somebody paused, and perhaps forgot. */
final class PausedTopicsCheck implements Check {

    @Override
    public String name() {
        return "pauses";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        for (Patient.Queue queue : patient.queues()) {
            String sql =
                    "select t.topic, t.paused_by, extract(epoch from clock_timestamp() - t.paused_at)::bigint from "
                            + patient.quoted(queue.table() + "_decided_topics")
                            + "() t where t.paused_at is not null limit 20";
            patient.list(sql, row -> {
                findings.warning(
                        "%s: topic %s is paused by %s since %s"
                                .formatted(
                                        queue.word(),
                                        row.getString(1),
                                        row.getString(2),
                                        Age.of(Duration.ofSeconds(row.getLong(3)))),
                        "If that is over: 'windlass " + queue.word() + " resume " + row.getString(1) + "'.");
                return true;
            });
        }
        findings.okIfNothingElse("no topic is paused");
    }
}
