package dev.windlass.internal.queue;

import dev.windlass.TestDatabase;
import java.sql.SQLException;

/** A queue, and what its rows need besides what all have. */
enum TestQueue {
    OUTBOX("outbox", "correlation_id", "'c'"),
    TIMERS("outbox_timer", "due_at", "now()"),
    RUNS("outbox_job_run", "source, tick_at, triggered", "'job', now(), true"),
    INBOX("inbox", "source, message_id", "'orders', gen_random_uuid()::text"),
    WORK("work", "type", "'t'");

    final String table;
    final String columns;
    final String values;

    TestQueue(String table, String columns, String values) {
        this.table = table;
        this.columns = columns;
        this.values = values;
    }

    /** Times are intervals from now. */
    void insert(TestDatabase database, int count, String topic, int status, String due, String more, String moreValues)
            throws SQLException {
        database.execute("insert into %s." + table + " (id, created_at, next_attempt_at, status, topic, payload, "
                + columns + more + ") select gen_random_uuid(), now(), now() + interval '" + due + "', " + status
                + ", '" + topic + "', 'x', " + values + moreValues + " from generate_series(1, " + count + ")");
    }

    void ready(TestDatabase database, int count, String topic, String due) throws SQLException {
        insert(database, count, topic, 0, due, "", "");
    }

    void leased(TestDatabase database, int count, String claimed, String until) throws SQLException {
        insert(
                database,
                count,
                "a",
                1,
                "0 s",
                ", claimed_at, locked_until, owner_token",
                ", now() + interval '" + claimed + "', now() + interval '" + until + "', gen_random_uuid()");
    }

    void ended(TestDatabase database, int count, String topic, int status, int retries) throws SQLException {
        insert(database, count, topic, status, "0 s", ", ended_at, retry_count", ", now(), " + retries);
    }

    String measure(TestDatabase database, int most) {
        return database.rows("select ready, delayed, waiting, in_progress, failed, overdue, stuck from %s." + table
                        + "_measure(" + most + ")")
                .get(0);
    }
}
