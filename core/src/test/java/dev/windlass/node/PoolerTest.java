package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** Nodes behind a pooler in transaction mode. If one client alone uses it, as here the kept connection, it has the same server connection each time. */
@Timeout(120)
final class PoolerTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int ROUNDS = 4;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final AtomicInteger handled = new AtomicInteger();
    private Pooler pooler;

    @BeforeEach
    void open() throws Exception {
        pooler = new Pooler(database.server().port());
    }

    @AfterEach
    void close() throws Exception {
        database.closeAll();
        pooler.close();
    }

    private PGSimpleDataSource pooled() {
        PGSimpleDataSource source = (PGSimpleDataSource) database.unpooled();
        source.setPortNumbers(new int[] {pooler.port()});
        source.setPrepareThreshold(0);
        return source;
    }

    private WindlassBuilder sleepy(DataSource source) {
        return Windlass.on(source)
                .options(database.options().withMaxPollingInterval(LONG))
                .outbox(OutboxOptions.defaults().withPollingInterval(LONG))
                .outboxHandler("a", message -> handled.incrementAndGet());
    }

    private void eachOfAnotherNodeIsHandledBeforeTheNextIsWritten() {
        Windlass other = database.passive();
        for (int i = 1; i <= ROUNDS; i++) {
            int expected = i;
            other.outbox().enqueue(OutboxEntry.of("a", "x"));
            eventually().until(() -> handled.get() == expected);
        }
    }

    /** The pooler of these tests, seen without Windlass. */
    @Test
    void whatOneSendsToItselfArrivesAndWhatAnotherSendsDoesNot() throws Exception {
        try (Connection connection = pooled().getConnection();
                Connection other =
                        DriverManager.getConnection(pooled().getUrl(), pooled().getUser(), pooled().getPassword());
                Statement statement = connection.createStatement();
                Statement others = other.createStatement()) {
            statement.execute("listen mine");
            statement.execute("notify mine, 'mine'");
            PGConnection driver = connection.unwrap(PGConnection.class);
            assertThat(driver.getNotifications(1)).hasSize(1);
            others.execute("notify mine, 'other'");
            assertThat(driver.getNotifications(250)).isNullOrEmpty();
        }
    }

    @Test
    void aNodeNoticesThatNotificationsDoNotArriveAndLooksEverySecond() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.start(sleepy(database.unpooled()).backgroundDataSource(pooled()));
            eventually().until(() -> logs.count(Level.INFO, "notifications do not arrive") == 1);
            eachOfAnotherNodeIsHandledBeforeTheNextIsWritten();
            assertThat(logs.count(Level.INFO, "notifications do not arrive")).isEqualTo(1);
            assertThat(logs.at(Level.WARN)).isEmpty();
        }
    }

    @Test
    void soDoesOneWhoseConnectionsAllComeFromThePooler() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            database.start(sleepy(pooled()));
            eventually().until(() -> logs.count(Level.INFO, "notifications do not arrive") == 1);
            eachOfAnotherNodeIsHandledBeforeTheNextIsWritten();
        }
    }

    /** Its renewals are answered on the server connection that listens, and what that has heard comes with the answer. */
    @Test
    void aProofThatComesWithTheAnswerToAnotherCallProvesNothing() {
        try (Logs logs = Logs.collect(Level.INFO)) {
            Windlass windlass = database.start(sleepy(database.unpooled()).backgroundDataSource(pooled()));
            for (int i = 0; i < 20; i++) {
                assertThat(windlass.leases().tryAcquire("lease " + i, Duration.ofSeconds(1)))
                        .isPresent();
            }
            eventually().until(() -> logs.count(Level.INFO, "notifications do not arrive") == 1);
        }
    }

    @Test
    void aDirectConnectionBesideThePoolerHears() throws Exception {
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            database.start(sleepy(pooled()).backgroundDataSource(database.unpooled()));
            eventually().until(() -> logs.count(Level.DEBUG, "listening on") == 1);
            eachOfAnotherNodeIsHandledBeforeTheNextIsWritten();
            assertThat(logs.count(Level.INFO, "notifications do not arrive")).isZero();
        }
    }
}
