package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Buffers;
import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much the routines read, counted in buffers, whatever the planner believes about the table. */
final class PostgresInboxPlansTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String OWNER = "'00000000-0000-7000-8000-000000000001'";
    private static final int MANY = 20_000;
    private static final String[] TABLES = {"inbox", "inbox_seen"};

    /** What the planner knows: nothing, or what was counted when the table was empty. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatTheInboxRemembersCostsNobodyAnything(boolean counted) throws SQLException {
        for (String table : TABLES) {
            database.execute("alter table %s." + table + " set (autovacuum_enabled = false)");
            if (counted) {
                database.execute("analyze %s." + table);
            }
        }
        try (Connection connection = database.dataSource().getConnection()) {
            Map<String, Long> without = buffersOfEachVerb(connection, 1);
            remember();
            Map<String, Long> with = buffersOfEachVerb(connection, 100);
            assertThat(with)
                    .allSatisfy((verb, buffers) -> assertThat(buffers)
                            .as("%s in an empty inbox: %s", verb, without.get(verb))
                            .isLessThan(3 * without.getOrDefault(verb, 0L) + 30));
        } finally {
            for (String table : TABLES) {
                database.execute("alter table %s." + table + " set (autovacuum_enabled = true)");
            }
        }
    }

    @Test
    void aPageOfAListCostsTheSameHoweverManyThereAre() throws SQLException {
        remember();
        try (Connection connection = database.dataSource().getConnection()) {
            for (String page : new String[] {
                "10",
                "10, null, null, 'orders'",
                "10, 0",
                "10, 0, 'other'",
                "10, 1",
                "10, 2",
                "10, 3",
                "10, 3, 'other'",
                "10, 4",
                "10, 2, p_after_at => now() - interval '1 hour', p_after_status => 2, p_after_source => 'orders',"
                        + " p_after_message_id => 'x'",
                "10, p_after_at => now() - interval '1 hour', p_after_status => 2, p_after_source => 'orders',"
                        + " p_after_message_id => 'x'"
            }) {
                buffers(connection, "inbox_list_seen(" + page + ")");
                assertThat(buffers(connection, "inbox_list_seen(" + page + ")"))
                        .as(page)
                        .isLessThan(150);
            }
        }
    }

    @Test
    void aBatchOfAnOperatorReadsNoMoreThanItChanges() throws SQLException {
        remember();
        try (Connection connection = database.dataSource().getConnection()) {
            for (String verb : new String[] {"requeue", "purge"}) {
                for (String rest : new String[] {
                    "p_all => true, p_limit => 10",
                    "p_topic => 'other', p_limit => 10",
                    "p_sources => '{orders, orders}', p_message_ids => '{m7, q7}'"
                }) {
                    String call = "inbox_change_seen('" + verb + "', 'anna', " + rest + ")";
                    buffers(connection, call);
                    assertThat(buffers(connection, call)).as(call).isLessThan(700);
                }
            }
        }
    }

    /** Of those without the queue, and of those with it: resting or ready, in progress, done and failed. */
    private static void remember() throws SQLException {
        database.execute("delete from %s.inbox");
        database.execute("delete from %s.inbox_seen");
        database.execute("""
                insert into %s.inbox_seen (source, message_id, first_seen_at, last_seen_at, claimed_at, locked_until, owner_token,
                                           status, state_at)
                select 'orders', 'm' || n, now(), now(), now(), case when n % 4 = 1 then now() + interval '1 day' end,
                       case when n % 4 = 1 then gen_random_uuid() end, n % 4, now() - n * interval '1 s'
                  from generate_series(1, {many}) n""".replace("{many}", Integer.toString(MANY)));
        database.execute("""
                with queued as (
                    insert into %s.inbox (source, message_id, id, created_at, next_attempt_at, claimed_at, locked_until, ended_at,
                                          owner_token, status, topic, payload)
                    select 'orders', 'q' || n, gen_random_uuid(), now(), now(), now(),
                           case when n % 4 = 1 then now() + interval '1 day' end,
                           case when n % 4 in (2, 3) then now() - n * interval '1 s' end,
                           case when n % 4 = 1 then gen_random_uuid() end, n % 4, 'other', 'x'
                      from generate_series(1, {many}) n where n % 4 <> 1 or n < 1000
                    returning source, message_id, id)
                insert into %s.inbox_seen (source, message_id, id, first_seen_at, last_seen_at)
                select q.source, q.message_id, q.id, now(), now() from queued q""".replace("{many}", Integer.toString(MANY)));
    }

    private static Map<String, Long> buffersOfEachVerb(Connection connection, int first) throws SQLException {
        Map<String, Long> buffers = new LinkedHashMap<>();
        for (int i = first; i < first + 7; i++) { // the plans are made and kept within the first five
            String key = "'source', 'id " + i + "'";
            buffers.put("begin", buffers(connection, "inbox_begin(" + key + ", " + OWNER + ", '1 min', 5)"));
            buffers.put(
                    "begin in progress",
                    buffers(connection, "inbox_begin(" + key + ", gen_random_uuid(), '1 min', 5)"));
            buffers.put(
                    "renew",
                    buffers(
                            connection,
                            "inbox_renew('{source}', '{id " + i + "}', array[" + OWNER + "::uuid], '1 min')"));
            buffers.put(
                    "enqueue what is begun",
                    buffers(connection, "inbox_enqueue('source', 'id " + i + "', 'topic', 'x', p_notify => false)"));
            buffers.put("adopt nothing", buffers(connection, "inbox_adopt('1 ms', 100)"));
            buffers.put(
                    "mark abandoned",
                    buffers(connection, "inbox_mark_abandoned(" + key + ", " + OWNER + ", 'x', '0', 5)"));
            buffers.put("begin again", buffers(connection, "inbox_begin(" + key + ", " + OWNER + ", '1 min', 5)"));
            buffers.put("mark done", buffers(connection, "inbox_mark_done(" + key + ", " + OWNER + ")"));
            buffers.put("drop", buffers(connection, "inbox_adopt('1 ms', 100)"));
            buffers.put(
                    "enqueue",
                    buffers(connection, "inbox_enqueue('queue', 'id " + i + "', 'topic', 'x', p_notify => false)"));
            buffers.put(
                    "enqueue again",
                    buffers(connection, "inbox_enqueue('queue', 'id " + i + "', 'topic', 'x', p_notify => false)"));
            buffers.put(
                    "claim",
                    buffers(
                            connection,
                            "inbox_claim(" + OWNER
                                    + ", '1 min', 10, '{topic}', '{10}', '{-infinity}', '{00000000-0000-0000-0000-000000000000}')"));
            String held = held();
            buffers.put("heartbeat", buffers(connection, "inbox_heartbeat(" + held + ", '1 min')"));
            buffers.put("ack", buffers(connection, "inbox_ack(" + held + ")"));
            buffers.put("ack again", buffers(connection, "inbox_ack(" + held + ")"));
            buffers.put("reap", buffers(connection, "inbox_reap('1 ms', 100)"));
            buffers.put("clean", buffers(connection, "inbox_clean('30 days', 100)"));
            buffers.put("clean guards", buffers(connection, "inbox_clean_guards('30 days', 100)"));
            buffers.put("find", buffers(connection, "inbox_find_key(" + key + ")"));
            buffers.put(
                    "begin queued",
                    buffers(connection, "inbox_begin('queue', 'id " + i + "', gen_random_uuid(), '1 min', 5)"));
            buffers.put("topics", buffers(connection, "inbox_ready_topics()"));
            buffers.put(
                    "next due",
                    buffers(
                            connection,
                            "inbox_next_due('{topic}', '{-infinity}', '{00000000-0000-0000-0000-000000000000}')"));
        }
        return buffers;
    }

    private static String held() {
        String ids = database.value(
                String.class,
                "select array_agg(id)::text from %s.inbox where status = 1 and owner_token = " + OWNER + "::uuid");
        return "'" + ids + "', array[" + OWNER + "::uuid]";
    }

    private static long buffers(Connection connection, String call) throws SQLException {
        return Buffers.of(connection, "select * from \"" + database.schema() + "\"." + call);
    }

    @Test
    void aCleanerReadsNoMoreThanItDeletes() throws SQLException {
        remember();
        database.execute(
                "update %s.inbox set ended_at = ended_at - interval '31 days' where message_id in ('q2', 'q6')");
        database.execute(
                "update %s.inbox_seen set state_at = state_at - interval '31 days' where message_id in ('m2', 'm6')");
        try (Connection connection = database.dataSource().getConnection()) {
            for (String clean : new String[] {"inbox_clean", "inbox_clean_guards"}) {
                buffers(connection, clean + "('30 days', 1)"); // a first call reads the catalog
                assertThat(buffers(connection, clean + "('30 days', 100)"))
                        .as(clean)
                        .isLessThan(100);
            }
        }
    }
}
