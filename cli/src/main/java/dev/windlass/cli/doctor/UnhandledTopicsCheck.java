package dev.windlass.cli.doctor;

import java.sql.SQLException;

/**
 * Topics that nobody seems to have a handler for. The database does not know the handlers: it sees that messages have been due for more than
 * five minutes, and that in this time none of their topic was in progress in time, done, or failed by a handler. What failed long ago, expired, or
 * is stuck tells of no handler. Of what ended, the last 20,000 are looked at.
 */
final class UnhandledTopicsCheck implements Check {
    private static final String SQL = """
            with lately as materialized (
                select p.topic::text
                  from %4$s p
                 where p.status = 1 and p.locked_until > now()
                union
                select e.topic::text
                  from unnest(array[2, 3]) as ended (status)
                 cross join lateral (
                       select m.topic, m.status, m.claimed_at, m.expires_at, m.ended_at
                         from %4$s m
                        where m.status = ended.status and m.ended_at is not null and m.ended_at > now() - interval '5 minutes'
                        order by m.ended_at desc
                        limit 20000) e
                 where e.status = 2 or e.claimed_at is not null and (e.expires_at is null or e.expires_at > e.ended_at))
            select t.topic
              from %1$s(1000) t
             cross join lateral %2$s(array[t.topic::text], 1) d
             where d.overdue > 0 and t.topic::text not in (select l.topic from lately l)
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
                    patient.quoted(queue.table() + "_decided_topics"),
                    patient.quoted(queue.table()));
            for (String topic : patient.list(sql, row -> row.getString(1))) {
                findings.warning(
                        "%s: nobody takes messages of topic %s".formatted(queue.word(), topic),
                        "Start a program that has a handler for it. If none should, cancel the messages.");
            }
        }
        findings.okIfNothingElse("every topic that has due messages is being worked on, or was lately");
    }
}
