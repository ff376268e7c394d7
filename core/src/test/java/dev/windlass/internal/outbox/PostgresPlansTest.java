package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Buffers;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How much the routines read, counted in buffers, whatever the planner believes about the table. */
final class PostgresPlansTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final int BACKLOG = 20_000;
    private static final String OWNER = "'00000000-0000-7000-8000-000000000001'";
    private static final String START = "'{-infinity}', '{00000000-0000-0000-0000-000000000000}'";
    private static final String CLAIM = "outbox_claim(" + OWNER + ", '1 min', 10, '{b}', '{10}', ";

    private Connection connection;

    /** What the planner knows when a backlog comes. */
    enum Statistics {
        /** Nobody has ever counted. */
        MISSING,
        /** Counted when all had been done and deleted. */
        OF_AN_EMPTY_TABLE,
        /** The plans were made, and kept, when the table held a handful of messages. */
        OF_A_SMALL_TABLE
    }

    @BeforeEach
    void open() throws SQLException {
        database.execute("alter table %s.outbox set (autovacuum_enabled = false)");
        connection = database.dataSource().getConnection();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        database.execute("alter table %s.outbox set (autovacuum_enabled = true)");
    }

    @ParameterizedTest
    @EnumSource
    @Shows("OBX-119")
    void aBacklogOfOneTopicCostsTheOthersNothing(Statistics statistics) throws SQLException {
        prepare(statistics);
        Map<String, Long> without = buffersOfEachVerb();
        enqueue("a", BACKLOG);
        Map<String, Long> with = buffersOfEachVerb();

        // The index has become a level or two deeper; reading the backlog would be a hundred times as much.
        assertThat(with)
                .allSatisfy((verb, buffers) -> assertThat(buffers)
                        .as("%s without a backlog: %s", verb, without.get(verb))
                        .isLessThan(3 * without.getOrDefault(verb, 0L) + 20));
    }

    @Test
    void aKeyWithAHundredThousandWaitingMessagesCostsTheOthersNothing() throws SQLException {
        for (int i = 0; i < 10; i++) {
            buffersOfOneOfAKey("small");
        }
        Map<String, Long> without = buffersOfOneOfAKey("small");
        enqueueOrdered("a", "big", 100_000, 1);
        Map<String, Long> with = buffersOfOneOfAKey("small");
        buffers("outbox_claim(" + OWNER + ", '1 min', 1, '{a}', '{1}', " + START + ")");
        with.put("ack in the big key", buffers("outbox_ack(" + held(1) + ", 'me', true)"));
        without.put("ack in the big key", without.getOrDefault("ack of one before another", 0L));

        assertThat(with)
                .allSatisfy((verb, buffers) -> assertThat(buffers)
                        .as("%s without the big key: %s", verb, without.get(verb))
                        .isLessThan(3 * without.getOrDefault(verb, 0L) + 20));
    }

    /** Claims look whether a topic is paused and whether a key was left over: two empty tables. */
    @Test
    void messagesWithoutAKeyDoNotPayForOrder() throws SQLException {
        for (int i = 0; i < 10; i++) {
            buffersOfEachVerb();
        }
        enqueue("b", 20);
        String tables = "select sum(seq_scan + coalesce(idx_scan, 0))::bigint from pg_stat_xact_user_tables"
                + " where schemaname = '" + database.schema() + "' and relname in ('outbox_key', 'outbox_dedup',"
                + " 'outbox_failure', 'windlass_action')";
        connection.setAutoCommit(false);
        try {
            long before = number(tables);
            long claim = buffers(CLAIM + START + ")");
            String mine = "(select array_agg(id) from \"" + database.schema()
                    + "\".outbox where status = 1 and owner_token = " + OWNER + "), array_fill(" + OWNER
                    + "::uuid, array[10])";
            buffers("outbox_ack(" + mine + ", 'me', true)");

            assertThat(number(tables)).isEqualTo(before);
            assertThat(claim).isLessThan(200);
        } finally {
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    /** Each state has twenty thousand messages, ten of them of topic b where there is an index by topic. */
    @ParameterizedTest
    @EnumSource
    void aPageOfAListCostsTheSameHoweverManyThereAre(Statistics statistics) throws SQLException {
        prepare(statistics);
        database.execute("""
                insert into %s.outbox (id, created_at, next_attempt_at, ended_at, status, topic, payload)
                select gen_random_uuid(), now(), now() + n * interval '1 s',
                       case when s > 0 then now() - n * interval '1 s' end, s,
                       case when n <= 10 then 'b' else 'a' end, 'x'
                  from generate_series(1, 20000) n, unnest(array[0, 2, 3, 5]) s""");
        enqueueOrdered("a", "k", BACKLOG, 1);
        for (String page : List.of(
                "10",
                "10, 0",
                "10, 0, 'b'",
                "10, 1",
                "10, 2",
                "10, 3",
                "10, 3, 'b'",
                "10, 4",
                "10, 5",
                "10, 2, null, null, null, now() - interval '1 hour'",
                "10, 0, null, null, now() + interval '1 hour'",
                "10, 2, null, null, null, null, null, now() - interval '1 hour', gen_random_uuid()")) {
            buffers("outbox_list(" + page + ")");
            assertThat(buffers("outbox_list(" + page + ")")).as(page).isLessThan(150);
        }
        database.execute("delete from %s.outbox");
        database.execute("delete from %s.outbox_key");
    }

    /** Two messages of a key, one after the other. */
    private Map<String, Long> buffersOfOneOfAKey(String key) throws SQLException {
        enqueueOrdered("b", key, 2, 1);
        Map<String, Long> buffers = new LinkedHashMap<>();
        buffers.put("claim", buffers(CLAIM + START + ")"));
        buffers.put("ack of one before another", buffers("outbox_ack(" + held(1) + ", 'me', true)"));
        buffers.put("claim of the promoted", buffers(CLAIM + START + ")"));
        buffers.put("ack of the last", buffers("outbox_ack(" + held(1) + ", 'me', true)"));
        return buffers;
    }

    private long number(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    @Shows("OBX-119")
    void aClaimFromABoundDoesNotStepOverWhatWasHandledUnderAnOpenSnapshot() throws SQLException {
        enqueue("b", 3000);
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            database.execute("select %s.outbox_ack(array_agg(id), array_agg(" + OWNER + "::uuid), 'me', true)"
                    + " from %s.outbox_claim(" + OWNER + ", '1 min', 3000, '{b}', '{3000}', " + START + ")");
            enqueue("b", 40);
            String last = database.value(
                    String.class, "select max(next_attempt_at)::text from %s.outbox where status = 2 and topic = 'b'");
            String bound = "array['" + last + "'::timestamptz], '{ffffffff-ffff-ffff-ffff-ffffffffffff}'";
            buffers(CLAIM + START + ")"); // reads the catalog, too

            long from = buffers(CLAIM + bound + ")");
            long without = buffers(CLAIM + START + ")");

            assertThat(without).isGreaterThan(2000);
            assertThat(from).isLessThan(without / 10);
        }
    }

    @Test
    void theNextOfAKeyIsFoundWithoutSteppingOverWhatWasHandledUnderAnOpenSnapshot() throws SQLException {
        enqueueOrdered("b", "long", 1000, 1500); // five on a page
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            for (int i = 0; i < 800; i++) {
                handleNext();
            }
            buffers(CLAIM + START + ")");

            assertThat(buffers("outbox_ack(" + held(1) + ", 'me', true)")).isLessThan(100);
            assertThat(database.count("status = 2")).isEqualTo(801);
        }
    }

    @Test
    void cleaningDoesNotStepOverWhatWasDeletedUnderAnOpenSnapshot() throws SQLException {
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, ended_at, status, topic, payload)"
                + " select gen_random_uuid(), now(), now(), now() - interval '2 days' + n * interval '1 s', 2, 'b',"
                + " repeat('x', 1500) from generate_series(1, 1000) n"); // five on a page
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            String reached = database.value(
                    String.class, "select reached::text from %s.outbox_clean_after('1 day', 900, '-infinity')");
            buffers("outbox_clean('1 day', 1)");

            long from = buffers("outbox_clean_after('1 day', 1, '" + reached + "')");
            long without = buffers("outbox_clean('1 day', 1)");

            assertThat(without).isGreaterThan(150);
            assertThat(from).isLessThan(60);
            assertThat(database.count("status = 2")).isEqualTo(97);
        }
    }

    private static void handleNext() throws SQLException {
        database.execute("select %s.outbox_ack(array_agg(id), array_agg(" + OWNER + "::uuid), 'me', true)"
                + " from %s.outbox_claim(" + OWNER + ", '1 min', 1, '{b}', '{1}', " + START + ")");
    }

    /** One by one would mean a look for the key, the joins and the next in line of each. */
    @Test
    void manyMessagesExpireAtThePriceOfTheirRows() throws SQLException {
        enqueue("a", BACKLOG);
        expiring("clock_timestamp() + interval '1 hour'", 3000);
        expiring("clock_timestamp() - interval '1 hour'", 1010);
        buffers("outbox_expire(10)"); // reads the catalog, too

        long buffers = buffers("outbox_expire(500)");

        assertThat(database.count("status = 3")).isEqualTo(510);
        assertThat(buffers).isLessThan(500 * 40);
        assertThat(buffers("outbox_expire(0)")).isLessThan(60);
    }

    private static void expiring(String when, int count) throws SQLException {
        database.execute(
                "select %s.outbox_enqueue_all(null, array_agg('b'::text), array_agg('x'::text), p_expires_ats =>"
                        + " array_agg(" + when + "), p_notify => false) from generate_series(1, " + count + ")");
    }

    private void prepare(Statistics statistics) throws SQLException {
        switch (statistics) {
            case MISSING -> {}
            case OF_AN_EMPTY_TABLE -> {
                enqueue("a", 1000);
                database.execute("delete from %s.outbox");
                database.execute("vacuum (analyze, truncate off) %s.outbox");
            }
            case OF_A_SMALL_TABLE -> {
                enqueue("a", 5);
                database.execute("vacuum analyze %s.outbox");
            }
        }
        for (int i = 0; i < 10; i++) {
            buffersOfEachVerb(); // until the session keeps its plans
        }
    }

    /** What it costs to claim messages of topic b, ten at a time, and to do with them all that can be done. */
    private Map<String, Long> buffersOfEachVerb() throws SQLException {
        enqueue("b", 30);
        Map<String, Long> buffers = new LinkedHashMap<>();
        for (String end : List.of("ack($, 'me', true)", "abandon($, null, null)", "fail($, null, 'me')")) {
            buffers.put("claim", buffers(CLAIM + START + ")"));
            String held = held();
            buffers.put("heartbeat", buffers("outbox_heartbeat(" + held + ", '1 min')"));
            buffers.put(end, buffers("outbox_" + end.replace("$", held)));
        }
        buffers.put("reap", buffers("outbox_reap('0', 10)"));
        buffers.put("expire", buffers("outbox_expire(10)"));
        buffers.put("clean", buffers("outbox_clean('1 day', 10)"));
        buffers.put("clean_dedup", buffers("outbox_clean_dedup(10)"));
        String one = "'"
                + database.value(String.class, "select min(id::text) from %s.outbox where topic = 'b' and status = 0")
                + "'";
        buffers.put("find", buffers("outbox_find(" + one + ")"));
        buffers.put("reschedule", buffers("outbox_reschedule(array[" + one + "]::uuid[], p_delay => '0')"));
        buffers.put("cancel", buffers("outbox_cancel(array[" + one + "]::uuid[])"));
        buffers.put("erase", buffers("outbox_erase('anna', array[" + one + "]::uuid[])"));
        buffers.put("requeue", buffers("outbox_requeue('anna', array[" + one + "]::uuid[])"));
        buffers.put("next due", buffers("outbox_next_due('{b}', " + START + ")"));
        buffers.put("ready topics", buffers("outbox_ready_topics()"));
        return buffers;
    }

    private static String held() {
        return held(10);
    }

    private static String held(int count) {
        String ids = database.value(
                String.class,
                "select array_agg(id)::text from %s.outbox where status = 1 and owner_token = " + OWNER + "::uuid");
        return "'" + ids + "', array_fill(" + OWNER + "::uuid, array[" + count + "])";
    }

    /** The buffers a call touches, what happens inside of the routine included. */
    private long buffers(String call) throws SQLException {
        return Buffers.of(connection, "select * from \"" + database.schema() + "\"." + call);
    }

    private static void enqueue(String topic, int count) throws SQLException {
        database.execute("""
                select %s.outbox_enqueue_all(
                    null, array_agg('{topic}'::text), array_agg(repeat('x', 200)), p_notify => false)
                  from generate_series(1, {count})""".replace("{topic}", topic).replace("{count}", Integer.toString(count)));
    }

    private static void enqueueOrdered(String topic, String key, int count, int bytes) throws SQLException {
        database.execute("""
                select %s.outbox_enqueue_all(
                    null, array_agg('{topic}'::text), array_agg(repeat('x', {bytes})), p_notify => false,
                    p_ordering_keys => array_agg('{key}'::text))
                  from generate_series(1, {count})""".replace("{topic}", topic)
                .replace("{key}", key)
                .replace("{bytes}", Integer.toString(bytes))
                .replace("{count}", Integer.toString(count)));
    }
}
