package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.operator.TopicLimit;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkQueue;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claims of items as PostgreSQL does them: one by one, and under another isolation. */
class PostgresClaimTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private WorkQueue work;

    @BeforeEach
    void start() {
        Windlass windlass = database.passive();
        work = windlass.workQueue();
    }

    private void enqueueWithKeys(int count) {
        work.enqueueAll(IntStream.range(0, count)
                .mapToObj(i -> WorkEntry.of("queue", "type", "payload").withKey("key " + i))
                .toList());
    }

    private static int claim(Connection connection, String more) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet count = statement.executeQuery("select count(*) from " + database.schema()
                        + ".work_claim(gen_random_uuid(), '1 min', 10, array['queue']" + more + ")")) {
            count.next();
            return count.getInt(1);
        }
    }

    @Test
    void itemsWithKeysAreTakenOneByOneToo() throws SQLException {
        enqueueWithKeys(20);
        work.enqueueAll(List.of(WorkEntry.of("queue", "type", "plain"), WorkEntry.of("queue", "type", "plain")));
        try (Connection connection = database.connect()) {
            assertThat(claim(connection, ", array[3], p_each => true")).isEqualTo(3);
            assertThat(claim(connection, ", array[10], p_bytes => 10, p_each => true"))
                    .isEqualTo(2);
            assertThat(claim(connection, ", p_each => true")).isEqualTo(10);
            work.operator("anna").limit("queue", TopicLimit.none().withRunning(17));
            assertThat(claim(connection, ", p_each => true")).isEqualTo(2);
        }
    }

    @Test
    void aClaimThatCannotSeeWhatOthersHaveTakenFailsAndDoesNotPassTheLimitBy() throws SQLException {
        enqueueWithKeys(200);
        work.operator("anna").limit("queue", TopicLimit.none().withRunning(1));
        try (Connection late = database.transaction();
                Connection early = database.transaction()) {
            late.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            early.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            try (Statement snapshot = late.createStatement()) {
                snapshot.execute("select count(*) from " + database.schema() + ".work");
            }
            assertThat(claim(early, "")).isEqualTo(1);
            early.commit();

            assertThatThrownBy(() -> claim(late, "")).hasMessageContaining("could not serialize");
        }
    }

    @Test
    void aRateWithAPeriodThatNoClockReachesIsRefused() {
        for (String period : List.of("10000 years", "178000000 years")) {
            assertThatThrownBy(() -> database.execute("select %s.work_limit_topic('anna', 'queue', p_rate => 1,"
                            + " p_rate_period => interval '" + period + "')"))
                    .hasMessageContaining("at most 100 years");
        }
    }

    @Test
    void itemsWithoutKeysGetHalfOfTheirQueueAlsoBesideOthersAndNoMoreThanTheyNeed() throws SQLException {
        enqueueWithKeys(40);
        work.enqueueAll(Collections.nCopies(6, WorkEntry.of("queue", "type", "plain")));
        String claim = "select count(*) filter (where keyed) || ' ' || count(*) filter (where not keyed) from"
                + " %s.work_claim(gen_random_uuid(), '1 min', 20, array['queue', 'other'], array[10, 10])";

        assertThat(database.rows(claim)).containsExactly("5 5");
        assertThat(database.rows(claim)).containsExactly("9 1");
        assertThat(database.rows(claim)).containsExactly("10 0");
    }

    @Test
    void nobodyLooksForItemsWithKeysBeforeOneIsDue() {
        String due = "select %s.work_next_due(array['queue'], array_fill('-infinity'::timestamptz, array[10]),"
                + " array_fill('00000000-0000-0000-0000-000000000000'::uuid, array[10]))";
        work.enqueue(WorkEntry.of("queue", "type", "later").withKey("a").withDelay(Duration.ofHours(2)));
        assertThat(database.value(Long.class, due)).isGreaterThan(3_600_000);

        work.enqueue(WorkEntry.of("queue", "type", "now").withKey("b"));
        assertThat(database.value(Long.class, due)).isEqualTo(250);
        work.operator("anna").pause("queue", "tea");
        assertThat(database.value(Long.class, due)).isNull();
    }
}
