package dev.windlass.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the routines for diagnostics say of tables whose content is known. */
final class PostgresDiagnosticsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static void fill(TestQueue queue) throws SQLException {
        queue.ready(database, 3, "a", "-1 min");
        queue.ready(database, 1, "b", "-10 min");
        queue.ready(database, 1, "b", "-20 days");
        queue.ready(database, 4, "a", "1 h");
        queue.leased(database, 2, "-10 s", "20 s");
        queue.leased(database, 1, "-40 s", "-10 s");
        queue.leased(database, 1, "-100 s", "-70 s");
        queue.ended(database, 3, "a", 3, 2);
    }

    @ParameterizedTest
    @EnumSource
    void eachStateIsCounted(TestQueue queue) throws SQLException {
        assertThat(queue.measure(database, 10)).isEqualTo("0 0 0 0 0 0 0");
        fill(queue);
        assertThat(queue.measure(database, 1000)).isEqualTo("5 4 0 4 3 2 1");
        assertThat(queue.measure(database, Integer.MAX_VALUE)).isEqualTo("5 4 0 4 3 2 1");
    }

    @ParameterizedTest
    @EnumSource
    void noCountGoesBeyondWhatWasAskedFor(TestQueue queue) throws SQLException {
        fill(queue);
        assertThat(queue.measure(database, 2)).isEqualTo("2 2 0 2 2 2 1");
        assertThat(queue.measure(database, 1)).isEqualTo("1 1 0 1 1 1 1");
    }

    @ParameterizedTest
    @EnumSource
    void theOldestIsFoundHoweverManyAreYounger(TestQueue queue) throws SQLException {
        assertThat(oldest(queue)).isNull();
        queue.ready(database, 1, "a", "1 h");
        assertThat(oldest(queue)).isNull();
        queue.ready(database, 5, "a", "-1 s");
        queue.ready(database, 1, "b", "-1000 s");
        assertThat(oldest(queue)).isBetween(1_000_000L, 1_100_000L);
    }

    private static Long oldest(TestQueue queue) {
        return database.value(Long.class, "select oldest_ready_ms from %s." + queue.table + "_measure(1)");
    }

    @Test
    void countingUpToNothingIsRefused() {
        assertThatThrownBy(() -> TestQueue.OUTBOX.measure(database, 0))
                .hasStackTraceContaining("expected a positive number to count up to, got 0");
    }

    @Test
    void messagesBehindAKeyWait() throws SQLException {
        TestQueue.OUTBOX.insert(
                database,
                3,
                "a",
                4,
                "0 s",
                ", awaited, ordering_key, ordering_sequence",
                ", true, 'k', generate_series");
        assertThat(TestQueue.OUTBOX.measure(database, 1000)).isEqualTo("0 0 3 0 0 0 0");
        assertThat(totals(TestQueue.OUTBOX)).containsExactly("a 0 3 0 0 0 0.00");
    }

    @Test
    void itemsWithKeysAreCountedToo() throws SQLException {
        TestQueue.WORK.insert(database, 3, "a", 0, "-10 min", ", keyed, turn_key", ", true, 'k' || generate_series");
        TestQueue.WORK.insert(database, 2, "a", 0, "1 h", ", keyed, turn_key", ", true, 'k' || generate_series");
        TestQueue.WORK.insert(database, 1, "a", 0, "-1 min", ", priority", ", 9");
        assertThat(TestQueue.WORK.measure(database, 1000)).isEqualTo("4 2 0 0 0 3 0");
        assertThat(oldest(TestQueue.WORK)).isGreaterThanOrEqualTo(600_000L);
        assertThat(totals(TestQueue.WORK)).containsExactly("a 6 0 0 0 0 null");
    }

    @Test
    void whatTheInboxGuardsWithoutItsQueueIsCountedToo() throws SQLException {
        guarded("open", 1, "-2 h", "interval '1 day'");
        guarded("young", 1, "-30 min", "interval '-29 min'");
        guarded("failed", 3, "-1 min", "null");
        assertThat(TestQueue.INBOX.measure(database, 1000)).isEqualTo("0 0 0 2 1 0 1");
        assertThat(database.rows("select message_id from %s.inbox_stuck(10)")).containsExactly("open");
    }

    private static void guarded(String id, int status, String at, String until) throws SQLException {
        database.execute("insert into %s.inbox_seen (source, message_id, first_seen_at, last_seen_at, state_at, status,"
                + " claimed_at, locked_until, owner_token) values ('orders', '" + id + "', now(), now(),"
                + " now() + interval '" + at + "', " + status + ", now() + interval '" + at
                + "', now() + " + until + ", gen_random_uuid())");
    }

    @ParameterizedTest
    @EnumSource
    void stuckIsWhatIsPastTwiceItsLease(TestQueue queue) throws SQLException {
        queue.leased(database, 1, "-100 s", "-70 s");
        queue.leased(database, 1, "-10 h", "-61 min"); // renewed often: what looks like a lease of nine hours is none
        queue.leased(database, 1, "-10 h", "-50 min");
        queue.leased(database, 1, "-40 s", "-10 s");
        queue.leased(database, 1, "-10 h", "10 s");
        assertThat(database.rows("select round(extract(epoch from now() - claimed_at) / 100), topic, retry_count,"
                        + " lease_expiries, locked_until < now() from %s." + queue.table + "_stuck(10)"))
                .containsExactly("360 a 0 0 t", "1 a 0 0 t");
        assertThat(database.rows("select id from %s." + queue.table + "_stuck(1)"))
                .hasSize(1);
        assertThat(queue.measure(database, 10)).endsWith(" 2");
    }

    @ParameterizedTest
    @EnumSource
    void totalsTellTheStatesOfEachTopic(TestQueue queue) throws SQLException {
        fill(queue);
        assertThat(totals(queue)).containsExactly("a 7 0 4 0 3 0.86", "b 2 0 0 0 0 null");
        if (queue != TestQueue.TIMERS) { // one that is done is gone
            queue.ended(database, 2, "c", 2, 1);
            assertThat(totals(queue)).contains("c 0 0 0 2 0 1.00");
        }
        assertThat(database.rows("select ready, failed from %s." + queue.table + "_totals(1) where topic = 'a'"))
                .containsExactly("1 1");
    }

    @ParameterizedTest
    @EnumSource
    void totalsTellWhatIsDueAndSinceWhen(TestQueue queue) throws SQLException {
        queue.ready(database, 2, "a", "-1 h");
        queue.ready(database, 1, "a", "-10 s");
        queue.ready(database, 4, "a", "1 h");
        queue.ready(database, 1, "b", "1 h");
        assertThat(database.rows("select topic, ready, due, oldest_due_ms between 3600000 and 3700000 from %s."
                        + queue.table + "_totals()"))
                .containsExactly("a 7 3 t", "b 1 0 null");
    }

    private static List<String> totals(TestQueue queue) {
        return database.rows("select topic, ready, waiting, in_progress, done, failed, average_retries from %s."
                + queue.table + "_totals()");
    }

    /** Topics of all sizes, between and beside those that were lately worked on; the rows themselves tell what is right. */
    @ParameterizedTest
    @EnumSource
    void topicsOfAllSizesAreCountedRight(TestQueue queue) throws SQLException {
        for (int topic = 0; topic < 120; topic++) {
            String name = "topic " + (topic * 7919 % 1000);
            queue.ready(database, topic % 13 == 0 ? 230 : topic % 4, name, -topic + " min");
            queue.ready(database, topic % 17 == 0 ? 150 : topic % 3, name, topic + 1 + " h");
            queue.ended(database, topic % 10 == 0 ? topic % 7 : 0, name, 3, 0);
        }
        if (queue == TestQueue.WORK) {
            for (int topic = 0; topic < 50; topic++) {
                queue.insert(
                        database,
                        topic % 9 == 0 ? 140 : topic % 3,
                        "topic " + topic * 20,
                        0,
                        -topic + " min",
                        ", keyed, turn_key, priority",
                        ", true, 'k', generate_series % 10");
            }
        }
        assertThat(database.rows(
                        "select ready, delayed, overdue, round(oldest_ready_ms / 60000.0), more_topics from %s."
                                + queue.table + "_measure(100000)"))
                .isEqualTo(database.rows("select count(*) filter (where next_attempt_at <= now()),"
                        + " count(*) filter (where next_attempt_at > now()),"
                        + " count(*) filter (where next_attempt_at <= now() - interval '5 minutes'),"
                        + " round(extract(epoch from now() - min(next_attempt_at)) / 60), false from %s."
                        + queue.table + " where status = 0"));
        assertThat(database.rows(
                        "select topic, ready, failed, due, round(oldest_due_ms / 60000.0), more_topics from %s."
                                + queue.table + "_totals(100000)"))
                .isEqualTo(
                        database.rows("select topic, count(*) filter (where status = 0), count(*) filter (where status"
                                + " = 3), count(*) filter (where status = 0 and next_attempt_at <= now()), round(extract(epoch"
                                + " from now() - min(next_attempt_at) filter (where status = 0 and next_attempt_at <= now()))"
                                + " / 60), false from %s." + queue.table
                                + " where status in (0, 3) group by 1 order by 1"));
    }

    @Test
    void thatTopicsWereLeftOutIsTold() throws SQLException {
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, topic, payload)"
                + " select gen_random_uuid(), now(), now(), 'topic ' || n, 'x' from generate_series(1, 1500) n");
        assertThat(database.rows(
                        "select count(*) between 1000 and 1100, bool_and(more_topics) from %s.outbox_totals()"))
                .containsExactly("t t");
        assertThat(database.rows("select ready, more_topics from %s.outbox_measure(2000)"))
                .containsExactly("1500 f");
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, topic, payload)"
                + " select gen_random_uuid(), now(), now(), 'topic ' || n, 'x' from generate_series(1501, 25000) n");
        assertThat(database.rows("select ready, more_topics from %s.outbox_measure(100)"))
                .containsExactly("100 t");
    }

    @Test
    void whatLostItsLeaseOftenIsFoundInTopicsOfOneMessage() throws SQLException {
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, topic, lease_expiries, payload)"
                + " select gen_random_uuid(), now(), now() - n * interval '1 s', 'topic ' || n, n % 2 * 2, 'x'"
                + " from generate_series(1, 900) n");
        assertThat(database.rows("select count(*) from %s.outbox_lapsed(2)")).containsExactly("450");
    }

    @ParameterizedTest
    @EnumSource
    void leasesThatHaveNotRunOutAreCountedWithTheirEnds(TestQueue queue) throws SQLException {
        assertThat(database.rows("select * from %s." + queue.table + "_leases()"))
                .containsExactly("0 null null null");
        queue.leased(database, 2, "-10 s", "20 s");
        queue.leased(database, 1, "-10 s", "1 h");
        queue.leased(database, 1, "-40 s", "-10 s");
        assertThat(database.rows("select active, earliest_expiry < now() + interval '30 s',"
                        + " latest_expiry > now() + interval '50 min', average_age_ms between 10000 and 20000 from %s."
                        + queue.table + "_leases()"))
                .containsExactly("3 t t t");
        assertThat(database.rows("select active, latest_expiry > now() + interval '50 min' from %s." + queue.table
                        + "_leases(2)"))
                .containsExactly("2 t");
    }

    @ParameterizedTest
    @EnumSource
    void whatLostItsLeaseOftenIsListedInWhateverState(TestQueue queue) throws SQLException {
        fill(queue);
        database.execute("update %s." + queue.table + " set lease_expiries = status + 1 where topic = 'a'");
        assertThat(database.rows(
                        "select distinct status, lease_expiries from %s." + queue.table + "_lapsed()" + " order by 1"))
                .containsExactly("1 2", "3 4");
        assertThat(database.rows("select distinct status from %s." + queue.table + "_lapsed(1) order by 1"))
                .containsExactly("0", "1", "3");
    }

    @Test
    void delaysOfTimersAreThoseOfTheirMessagesHourByHour() throws SQLException {
        timerMessage("2026-01-01 10:00:00+00", 100, 2);
        timerMessage("2026-01-01 10:59:59+00", 300, 3);
        timerMessage("2026-01-01 11:00:00+00", 50, 2);
        TestQueue.OUTBOX.ended(database, 5, "a", 2, 0); // no timers
        assertThat(database.rows(
                        "select extract(hour from hour at time zone 'UTC'), messages, average_ms, p99_ms, max_ms"
                                + " from %s.outbox_timer_delays()"))
                .containsExactly("11 1 50 50 50", "10 2 200 300 300");
    }

    private static void timerMessage(String due, int late, int status) throws SQLException {
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, due_at, ended_at, status, topic,"
                + " source, payload) values (gen_random_uuid(), timestamptz '" + due + "' + interval '" + late
                + " ms', now(), '" + due + "', now(), " + status + ", 'a', 'timer', 'x')");
    }

    @Test
    void delaysOfRunsAreCountedFromTheirTicks() throws SQLException {
        for (int late : new int[] {10, 20, 60}) {
            database.execute(
                    "insert into %s.outbox_job_run (id, created_at, next_attempt_at, ended_at, status, topic, payload,"
                            + " source, tick_at, triggered) select gen_random_uuid(), t + interval '" + late
                            + " ms', now(), now(), 2, 'a', 'x', 'job', t, false from (values (timestamptz"
                            + " '2026-01-01 10:00:00+00' + interval '" + late + " s')) v (t)");
        }
        TestQueue.RUNS.ended(database, 3, "a", 2, 0); // triggered by hand
        assertThat(database.rows("select messages, average_ms, p99_ms, max_ms from %s.outbox_job_run_delays()"))
                .containsExactly("3 30 60 60");
    }

    @Test
    void namedLeasesAreCountedAndSoIsWhoWaits() throws SQLException {
        database.execute("""
                insert into %s.lease (name, slot, holder, owner, fencing_token, acquired_at, expires_at, awaited_until) values
                    ('a', 0, gen_random_uuid(), 'node 1', 1, now(), now() + interval '1 min', now() + interval '5 s'),
                    ('b', 0, gen_random_uuid(), 'node 2', 2, now(), now() + interval '2 min', now() - interval '5 s'),
                    ('c', 0, null, 'node 2', 3, now(), now() - interval '2 min', null),
                    ('s', 1, gen_random_uuid(), 'node 3', 4, now(), now() + interval '3 min', null)""");
        database.execute("insert into %s.lease_semaphore (name, permits, used_at, awaited_until)"
                + " values ('s', 1, now(), now() + interval '5 s')");
        assertThat(database.rows(
                        "select active, earliest_expiry < now() + interval '1 min', latest_expiry > now() + interval"
                                + " '2 min' from %s.lease_active()"))
                .containsExactly("3 t t");
        assertThat(database.rows("select name, owner, held, permits from %s.lease_contention()"))
                .containsExactly("a node 1 1 null", "s null 1 1");
    }
}
