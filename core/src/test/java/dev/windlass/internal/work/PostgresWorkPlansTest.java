package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Buffers;
import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How much claims read, counted in buffers, whatever the planner believes about the table. */
class PostgresWorkPlansTest {
    private static final int BACKLOG = 20_000;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        database.execute("alter table %s.work set (autovacuum_enabled = false)");
        connection = database.dataSource().getConnection();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        database.execute("alter table %s.work set (autovacuum_enabled = true)");
    }

    @Test
    void aKeyAtItsLimitCostsTheOthersNothingWhateverItsBacklog() throws SQLException {
        limit("p_max_per_key => 3");
        enqueue("'small ' || i % 100", "4", 200);
        buffersOfAClaim();
        long without = buffersOfAClaim();
        enqueue("'big'::text", "4", BACKLOG);
        database.execute(
                "update %s.work set status = 1, owner_token = id, claimed_at = now(), locked_until = now() + interval '1 h'"
                        + " where id in (select id from %s.work where turn_key = 'big' limit 3)");
        long with = buffersOfAClaim();

        assertThat(with).isLessThan(3 * without + 60);
    }

    @Test
    void aBacklogOfOtherPrioritiesAndQueuesCostsNothing() throws SQLException {
        enqueue("null::text", "9", 200);
        buffersOfAClaim();
        long without = buffersOfAClaim();
        enqueue("null::text", "i % 9", BACKLOG);
        database.execute("update %s.work set topic = 'other' where priority = 3");
        long with = buffersOfAClaim();

        assertThat(with).isLessThan(3 * without + 60);
    }

    @Test
    void aLimitIsCountedAlongTheLeases() throws SQLException {
        limit("p_max_running => 50");
        enqueue("null::text", "4", 200);
        buffersOfAClaim();
        long without = buffersOfAClaim();
        enqueue("null::text", "4", BACKLOG);
        long with = buffersOfAClaim();

        assertThat(with).isLessThan(3 * without + 60);
    }

    private long buffersOfAClaim() throws SQLException {
        return Buffers.of(
                connection,
                "select * from \"" + database.schema() + "\".work_claim(gen_random_uuid(), '1 min', 5, '{q}')");
    }

    private static void limit(String what) throws SQLException {
        database.execute("select %s.work_limit_topic('test', 'q', " + what + ")");
    }

    private static void enqueue(String key, String priority, int count) throws SQLException {
        database.execute(
                "select %s.work_enqueue_all(null, array_agg('q'::text), array_agg('t'::text), array_agg('x'::text), array_agg("
                        + priority + "), p_turn_keys => array_agg(" + key
                        + "), p_notify => false) from generate_series(1, " + count
                        + ") as i");
    }
}
