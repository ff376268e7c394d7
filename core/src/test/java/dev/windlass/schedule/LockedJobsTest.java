package dev.windlass.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.ZoneOffset;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Somebody has a job locked while a program starts that brings another text of it. */
final class LockedJobsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static JobSet set(int revision, String cron) {
        return JobSet.of("set", revision)
                .with(Job.cron("job", cron, ZoneOffset.UTC).topic("a"));
    }

    private static Connection holdingJobs() throws SQLException {
        Connection connection = database.owner().getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("select 1 from \"" + database.schema() + "\".outbox_job for update");
        }
        return connection;
    }

    @Test
    void aNodeHandlesMessagesAndSavesItsJobsOnceTheyAreFree() throws Exception {
        database.start(database.windlass().jobs(set(1, "0 0 1 1 *"))).close();
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 10)
                        .mapToObj(i -> OutboxEntry.of("b", "x"))
                        .toList());
        try (Connection somebody = holdingJobs();
                Logs logs = Logs.collect(Level.WARN)) {
            Windlass node =
                    database.start(database.windlass().jobs(set(2, "0 0 2 1 *")).outboxHandler("b", message -> {}));
            assertThat(node.isRunning()).isTrue();
            eventually().until(() -> database.count("status = 2") == 10);
            assertThat(logs.count(Level.WARN, "the jobs of this program could not be saved yet"))
                    .isEqualTo(1);

            somebody.rollback();
            eventually()
                    .until(() -> database.value(String.class, "select cron from %s.outbox_job")
                            .equals("0 0 2 1 *"));
            assertThat(logs.lines()).hasSize(1);
        }
    }
}
