package dev.windlass.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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

    /** What the planner knows: nothing, or what was counted when the table was empty. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatTheInboxRemembersCostsNobodyAnything(boolean counted) throws SQLException {
        database.execute("alter table %s.inbox set (autovacuum_enabled = false)");
        if (counted) {
            database.execute("analyze %s.inbox");
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
            database.execute("alter table %s.inbox set (autovacuum_enabled = true)");
        }
    }

    @Test
    void aPageOfAListCostsTheSameHoweverManyThereAre() throws SQLException {
        database.execute("delete from %s.inbox");
        database.execute("""
                insert into %s.inbox (source, message_id, id, first_seen_at, last_seen_at, next_attempt_at, ended_at, status,
                                      topic, payload)
                select 'orders', 'm' || n, case when n % 5 = 0 then gen_random_uuid() end, now(), now(),
                       now() + n * interval '1 s', case when n % 5 in (1, 2) then now() - n * interval '1 s' end,
                       case n % 5 when 1 then 2 when 2 then 3 else 0 end,
                       case when n % 5 = 0 then 'topic-' || n % 3 end, case when n % 5 = 0 then 'x' end
                  from generate_series(1, {many}) n""".replace("{many}", Integer.toString(5 * MANY)));
        try (Connection connection = database.dataSource().getConnection()) {
            for (String page : new String[] {
                "10",
                "10, null, 'orders'",
                "10, 0",
                "10, 0, null, 'topic-1'",
                "10, 1",
                "10, 2",
                "10, 3",
                "10, 2, null, null, null, null, now() - interval '1 hour', 'orders', 'x'",
                "10, null, null, null, null, null, now(), 'orders', 'm5'"
            }) {
                buffers(connection, "inbox_list(" + page + ")");
                assertThat(buffers(connection, "inbox_list(" + page + ")"))
                        .as(page)
                        .isLessThan(150);
            }
        } finally {
            database.execute("delete from %s.inbox");
        }
    }

    /** Done, dead, in progress without the queue, and ready for a topic nobody asks for. */
    private static void remember() throws SQLException {
        database.execute("""
                insert into %s.inbox (source, message_id, id, first_seen_at, last_seen_at, next_attempt_at, claimed_at,
                                      locked_until, ended_at, owner_token, status, topic, payload)
                select 'orders', 'm' || n, case when n % 4 = 0 then gen_random_uuid() end, now(), now(), now(), now(),
                       case when n % 4 = 1 then now() + interval '1 day' end,
                       case when n % 4 in (2, 3) then now() end,
                       case when n % 4 = 1 then gen_random_uuid() end,
                       n % 4, case when n % 4 = 0 then 'other' end, case when n % 4 = 0 then 'x' end
                  from generate_series(1, {many}) n""".replace("{many}", Integer.toString(MANY)));
    }

    private static Map<String, Long> buffersOfEachVerb(Connection connection, int first) throws SQLException {
        Map<String, Long> buffers = new LinkedHashMap<>();
        for (int i = first; i < first + 7; i++) { // the plans are made and kept within the first five
            String key = "'source', 'id " + i + "'";
            buffers.put("begin", buffers(connection, "inbox_begin(" + key + ", " + OWNER + ", '1 min', 5)"));
            buffers.put(
                    "begin in progress",
                    buffers(connection, "inbox_begin(" + key + ", gen_random_uuid(), '1 min', 5)"));
            buffers.put("renew", buffers(connection, "inbox_renew(" + key + ", " + OWNER + ", '1 min')"));
            buffers.put(
                    "renew all",
                    buffers(
                            connection,
                            "inbox_renew_all('{source}', '{id " + i + "}', array[" + OWNER + "::uuid], '1 min')"));
            buffers.put(
                    "enqueue what is begun",
                    buffers(connection, "inbox_enqueue('source', 'id " + i + "', 'topic', 'x', p_notify => false)"));
            buffers.put("adopt nothing", buffers(connection, "inbox_adopt('1 ms', 100)"));
            buffers.put(
                    "mark failed", buffers(connection, "inbox_mark_failed(" + key + ", " + OWNER + ", 'x', '0', 5)"));
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
            buffers.put("find", buffers(connection, "inbox_find(" + key + ")"));
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
                "select array_agg(id)::text from %s.inbox where status = 1 and owner_token = " + OWNER + "::uuid"
                        + " and id is not null");
        return "'" + ids + "', array[" + OWNER + "::uuid]";
    }

    private static long buffers(Connection connection, String call) throws SQLException {
        String sql = "explain (analyze, buffers, timing off, format json) select * from \"" + database.schema() + "\"."
                + call;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            JsonNode plan = new ObjectMapper().readTree(row.getString(1)).get(0).get("Plan");
            return plan.get("Shared Hit Blocks").asLong()
                    + plan.get("Shared Read Blocks").asLong();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aCleanerReadsNoMoreThanItDeletes() throws SQLException {
        remember();
        database.execute(
                "update %s.inbox set ended_at = ended_at - interval '31 days' where message_id in ('m2', 'm6')");
        try (Connection connection = database.dataSource().getConnection()) {
            buffers(connection, "inbox_clean('60 days', 100)"); // a first call reads the catalog
            assertThat(buffers(connection, "inbox_clean('30 days', 100)")).isLessThan(50);
        }
    }
}
