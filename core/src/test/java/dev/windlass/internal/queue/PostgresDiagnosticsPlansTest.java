package dev.windlass.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Buffers;
import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How much diagnostics read, counted in buffers, however full the tables are and whatever the planner believes of them. */
final class PostgresDiagnosticsPlansTest {
    private static final int MANY = 20_000;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        connection = database.dataSource().getConnection();
        for (TestQueue queue : TestQueue.values()) {
            database.execute("alter table %s." + queue.table + " set (autovacuum_enabled = false)");
        }
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    /** Eighty thousand rows: to read all of a state would be thousands of buffers for each topic. */
    @ParameterizedTest
    @EnumSource
    void theCostDoesNotDependOnHowFullTheTableIs(TestQueue queue) throws SQLException {
        database.execute(
                "insert into %s." + queue.table + " (id, created_at, next_attempt_at, claimed_at, locked_until,"
                        + " ended_at, status, topic, payload, " + queue.columns + ")"
                        + " select gen_random_uuid(), now(), now() + (n - 10000) * interval '10 s', now(),"
                        + " case when s = 1 then now() + (n - 1000) * interval '1 s' end,"
                        + " case when s > 1 then now() - n * interval '1 s' end, s, 't' || n % 10, repeat('x', 300), "
                        + queue.values + " from generate_series(1, " + MANY + ") n, unnest(array[0, 1, 3" + done(queue)
                        + "]) s");
        for (String call : List.of("measure(100)", "stuck(100)", "lapsed(2, 100)", "totals(100)", "leases(100)")) {
            String sql = "select * from \"" + database.schema() + "\"." + queue.table + "_" + call;
            Buffers.of(connection, sql); // reads the catalog, too
            assertThat(Buffers.of(connection, sql)).as(call).isLessThan(limit(queue, call));
        }
    }

    /** A topic costs what its messages do, not some looks into the index; and of the rows of topics there are a thousand. */
    @ParameterizedTest
    @EnumSource
    void theCostDoesNotDependOnHowManyTopicsThereAre(TestQueue queue) throws SQLException {
        database.execute("insert into %s." + queue.table + " (id, created_at, next_attempt_at, ended_at, status, topic,"
                + " payload, " + queue.columns + ") select gen_random_uuid(), now(), now() - n * interval '1 s',"
                + " case when s > 1 then now() end, s, 'topic ' || n, 'x', " + queue.values
                + " from generate_series(1, " + MANY + ") n, unnest(array[0, 3]) s");
        for (String call : List.of("measure(50001)", "lapsed(2, 100)", "totals(100)")) {
            String sql = "select * from \"" + database.schema() + "\"." + queue.table + "_" + call;
            Buffers.of(connection, sql);
            assertThat(Buffers.of(connection, sql)).as(call).isLessThan(3 * MANY); // the work queue has ten priorities
        }
    }

    private static String done(TestQueue queue) {
        return queue == TestQueue.TIMERS ? "" : ", 2";
    }

    /** A look at leases has up to a hundred of each of twelve spans. Ten topics have up to a hundred rows each, a buffer each at worst; the work queue has ten priorities of each topic. */
    private static long limit(TestQueue queue, String call) {
        if (call.startsWith("stuck") || call.startsWith("leases")) {
            return 1_500;
        }
        return queue == TestQueue.WORK ? 12_000 : 4_000;
    }

    @ParameterizedTest
    @ValueSource(strings = {"outbox_timer_delays(100)", "outbox_job_run_delays(100)"})
    void delaysAreTakenFromTheLatest(String call) throws SQLException {
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, due_at, ended_at, status, topic, source,"
                        + " payload) select gen_random_uuid(), now(), now(), now(), now() - n * interval '1 s', s, 'a', 'timer', 'x'"
                        + " from generate_series(1, " + MANY + ") n, unnest(array[2, 3]) s");
        database.execute(
                "insert into %s.outbox_job_run (id, created_at, next_attempt_at, ended_at, status, topic, source,"
                        + " tick_at, triggered, payload) select gen_random_uuid(), now(), now(), now() - n * interval '1 s', s, 'a',"
                        + " 'job', now() + (n * 10 + s) * interval '1 s', false, 'x'"
                        + " from generate_series(1, " + MANY + ") n, unnest(array[2, 3]) s");
        String sql = "select * from \"" + database.schema() + "\"." + call;
        Buffers.of(connection, sql);
        assertThat(Buffers.of(connection, sql)).isLessThan(600);
    }

    /** A hundred thousand messages of the last twelve days, all of them handled since somebody opened a snapshot. */
    @Test
    void anOpenSnapshotDoesNotMakeMeasuringReadAllThatWasHandledSince() throws SQLException {
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, status, topic, payload)"
                        + " select gen_random_uuid(), now(), now() - n * interval '10 s', 0, 'a', 'x' from generate_series(1, 100000) n");
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            database.execute("update %s.outbox set status = 2, ended_at = now()");
            TestQueue.OUTBOX.ready(database, 1, "a", "-1 h");
            String schema = "\"" + database.schema() + "\"";
            String measure = "select * from " + schema + ".outbox_measure(100)";
            Buffers.of(connection, measure);

            long bounded = Buffers.of(connection, measure);
            long all = Buffers.of(
                    connection,
                    "select count(*) from " + schema + ".outbox_due_between('{a}', '-infinity', now(), 100)");

            assertThat(bounded).isLessThan(all / 3);
            assertThat(TestQueue.OUTBOX.measure(database, 100)).isEqualTo("1 0 0 0 0 1 0");
        }
    }

    /** The same of four hundred topics, of which none is worked on more than others: the look ends, and says so. */
    @Test
    void anOpenSnapshotOverManyTopicsDoesNotMakeMeasuringReadAllThatWasHandledSince() throws SQLException {
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, status, topic, payload)"
                        + " select gen_random_uuid(), now(), now(), 0, 'topic ' || n % 400, 'x' from generate_series(1, 100000) n");
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            database.execute("update %s.outbox set status = 2, ended_at = now()");
            for (String call : List.of("measure(100)", "totals(100)", "lapsed(2, 100)")) {
                String sql = "select * from \"" + database.schema() + "\".outbox_" + call;
                Buffers.of(connection, sql);
                assertThat(Buffers.of(connection, sql))
                        .as(call)
                        .isLessThan(call.startsWith("measure") ? 60_000 : 160_000);
            }
            assertThat(database.rows("select ready, more_topics from %s.outbox_measure(100)"))
                    .containsExactly("0 t");
        }
    }

    /** Forty topics that were worked on since, with more dead entries than a look may meet, come before one that nobody works on. */
    @Test
    void anOpenSnapshotOverTopicsThatAreWorkedOnHidesNoneThatNobodyWorksOn() throws SQLException {
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, status, topic, payload)"
                        + " select gen_random_uuid(), now(), now(), 0, 'order.' || n % 40, 'x' from generate_series(1, 60000) n");
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            database.execute("update %s.outbox set status = 2, ended_at = now()");
            TestQueue.OUTBOX.ready(database, 900, "payment", "-10 min");
            String measure = "select * from \"" + database.schema() + "\".outbox_measure(1000)";
            Buffers.of(connection, measure);

            assertThat(Buffers.of(connection, measure)).isLessThan(80_000);
            assertThat(database.rows("select ready, overdue, oldest_ready_ms >= 600000, more_topics"
                            + " from %s.outbox_measure(1000)"))
                    .containsExactly("900 900 t t");
        }
    }

    /** Four hundred topics with dead entries come before it, most of which are not known as worked on: the statistics name it. */
    @Test
    void anOpenSnapshotOverManyTopicsHidesNoneThatHasMuchToDo() throws SQLException {
        database.execute(
                "insert into %s.outbox (id, created_at, next_attempt_at, status, topic, payload)"
                        + " select gen_random_uuid(), now(), now(), 0, 'order.' || n % 400, 'x' from generate_series(1, 60000) n");
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            database.execute("update %s.outbox set status = 2, ended_at = now()");
            TestQueue.OUTBOX.ready(database, 3_000, "payment", "-10 min");
            database.execute("analyze %s.outbox");
            String measure = "select * from \"" + database.schema() + "\".outbox_measure(5000)";
            Buffers.of(connection, measure);

            assertThat(Buffers.of(connection, measure)).isLessThan(100_000);
            assertThat(database.rows("select ready, overdue, oldest_ready_ms >= 600000, more_topics"
                            + " from %s.outbox_measure(5000)"))
                    .containsExactly("1000 1000 t t");
        }
    }

    /**
     * A hundred thousand messages, all of them claimed and handled since somebody opened a snapshot: most of them within three days, so that
     * it does not matter how long this test takes, and those that are left within the last hour.
     */
    @Test
    void anOpenSnapshotDoesNotMakeDiagnosticsReadAllThatWasClaimedSince() throws SQLException {
        try (Connection other = database.owner().getConnection();
                Statement snapshot = other.createStatement()) {
            other.setAutoCommit(false);
            other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("select 1");
            database.execute("insert into %s.outbox (id, created_at, next_attempt_at, status, topic, payload)"
                    + " select gen_random_uuid(), now(), now() - random() * interval '3 days', 0, 'a', 'x'"
                    + " from generate_series(1, 100000) n");
            database.execute("update %s.outbox set status = 1, claimed_at = next_attempt_at,"
                    + " locked_until = next_attempt_at + interval '30 s'");
            database.execute("update %s.outbox set status = 2, locked_until = null, ended_at = now()");
            TestQueue.OUTBOX.leased(database, 1, "-20 min", "-10 min");
            TestQueue.OUTBOX.leased(database, 1, "-1 s", "10 h");
            for (String call : List.of("measure(100)", "stuck(100)", "lapsed(2, 100)", "totals(100)", "leases(100)")) {
                String sql = "select * from \"" + database.schema() + "\".outbox_" + call;
                Buffers.of(connection, sql);
                assertThat(Buffers.of(connection, sql)).as(call).isLessThan(55_000);
            }
            assertThat(database.rows("select count(*) from %s.outbox_stuck(10)"))
                    .containsExactly("1");
        }
    }
}
