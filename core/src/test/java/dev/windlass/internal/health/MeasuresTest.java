package dev.windlass.internal.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Eventually;
import dev.windlass.TestDatabase;
import dev.windlass.base.QueueKind;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.queue.Measuring;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Three checks of one report ask for the same measure. */
@Timeout(60)
final class MeasuresTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static Measures measures(DataSource source, Duration validFor, Duration answer) {
        Database asked = new Database(source, new PostgresDialect(), database.schema(), "shop");
        return new Measures(
                new Measuring(
                        asked.answeringWithin(answer), List.of(new Measuring.Measured(QueueKind.OUTBOX, "outbox"))),
                10,
                validFor);
    }

    @Test
    void aMeasureThatIsRefusedIsNotAskedAgainBeforeItsTime() throws SQLException {
        Measures measures = measures(database.dataSource(), LONG, LONG);
        database.execute("alter function %s.outbox_measure rename to hidden");
        try {
            assertThatThrownBy(measures::latest).isInstanceOf(SQLException.class);
        } finally {
            database.execute("alter function %s.hidden rename to outbox_measure");
        }
        assertThatThrownBy(measures::latest).isInstanceOf(SQLException.class);
        assertThat(measures(database.dataSource(), LONG, LONG).latest()).hasSize(1);
    }

    /** Also if answers are not given again. */
    @Test
    void thoseWhoWaitWhileAMeasureFailsAreToldThatItFailed() throws Exception {
        Measures measures = measures(database.dataSource(), Duration.ZERO, Duration.ofSeconds(1));
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try (Connection holder = database.owner().getConnection()) {
            holder.setAutoCommit(false);
            holder.createStatement().execute("lock table " + database.schema() + ".outbox in access exclusive mode");
            List<Thread> asking = new java.util.concurrent.CopyOnWriteArrayList<>();
            Callable<Throwable> ask = () -> {
                asking.add(Thread.currentThread());
                try {
                    measures.latest();
                    throw new AssertionError("it was measured");
                } catch (SQLException e) {
                    return e;
                }
            };
            List<Future<Throwable>> answers =
                    Stream.of(ask, ask, ask).map(threads::submit).toList();
            Eventually.eventually()
                    .until(() -> asking.stream()
                                    .filter(thread -> thread.getState() == Thread.State.BLOCKED)
                                    .count()
                            == 2);
            Throwable first = answers.get(0).get();
            assertThat(answers.get(1).get()).isSameAs(first);
            assertThat(answers.get(2).get()).isSameAs(first);
        } finally {
            threads.shutdownNow();
        }
    }
}
