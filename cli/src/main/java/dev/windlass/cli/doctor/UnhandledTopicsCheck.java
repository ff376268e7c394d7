package dev.windlass.cli.doctor;

import java.sql.SQLException;

/**
 * Topics that nobody seems to have a handler for. The database does not know the handlers: it sees that messages have been due for more than
 * five minutes, and that none of their topic has lately been begun.
 */
final class UnhandledTopicsCheck implements Check {
    private static final String SQL = """
            select t.topic
              from %1$s(1000) t
             cross join lateral %2$s(array[t.topic::text], 1) d
             where d.overdue > 0 and t.in_progress + t.done + t.failed = 0
               and t.topic not in (select p.topic from %3$s() p where p.paused_at is not null)
             order by t.topic
             limit 20""";

    @Override
    public String name() {
        return "handlers";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        for (Patient.Queue queue :
                patient.queues().stream().filter(Patient.Queue::hasHandlers).toList()) {
            String sql = SQL.formatted(
                    patient.quoted(queue.table() + "_totals"),
                    patient.quoted(queue.table() + "_due"),
                    patient.quoted(queue.table() + "_decided_topics"));
            for (String topic : patient.list(sql, row -> row.getString(1))) {
                findings.warning(
                        "%s: nobody takes messages of topic %s".formatted(queue.word(), topic),
                        "Start a program that has a handler for it. If none should, cancel the messages.");
            }
        }
        findings.okIfNothingElse("every topic that has due messages is being worked on, or was lately");
    }
}
