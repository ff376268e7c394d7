package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.Processed.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On a server of its own, with fsync, that is killed and started again. */
final class DatabaseRestartTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase(
            EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withFsync(true)));

    private static final InboxOptions OPTIONS =
            InboxOptions.defaults().withGuardLease(Duration.ofSeconds(2)).withLease(Duration.ofSeconds(2));

    @BeforeEach
    void createLedger() throws SQLException {
        database.execute("create table %s.ledger (line text)");
        database.execute("grant select, insert on %s.ledger to windlass_runtime");
    }

    @AfterEach
    void dropLedger() throws SQLException {
        database.closeAll();
        database.execute("drop table %s.ledger");
    }

    private static void write(Connection connection, String line) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("insert into " + database.schema() + ".ledger values ('" + line + "')");
        }
    }

    private static long number(String sql) {
        return database.value(Long.class, sql);
    }

    @Test
    void workThatADatabaseTakesDownWithItIsDoneOnceWhenItIsBack() throws Exception {
        Inbox inbox = database.start(database.windlass().inbox(OPTIONS)).inbox();
        assertThatThrownBy(() -> inbox.process("orders", "1", connection -> {
                    write(connection, "lost");
                    database.server().kill();
                    write(connection, "never");
                }))
                .isInstanceOf(SQLException.class);
        database.server().restart();
        eventually()
                .ignoreExceptions()
                .until(() -> inbox.process("orders", "1", connection -> write(connection, "done"))
                                .outcome()
                        == Outcome.PROCESSED);
        assertThat(database.value(String.class, "select string_agg(line, ',') from %s.ledger"))
                .isEqualTo("done");
    }

    /** Its lease ran out while the database was away; nobody may take the message in the first lease period after that. */
    @Test
    void anOwnerThatLivedThroughAnOutageComesFirst() throws Exception {
        Windlass windlass = database.start(database.windlass().inbox(OPTIONS));
        Inbox inbox = windlass.inbox();
        InboxAttempt attempt = ((Begin.Proceed) inbox.begin("orders", "1")).attempt();
        database.server().kill();
        database.server().restart();
        database.execute("update %s.inbox_seen set locked_until = first_seen_at where status = 1");
        Inbox other = database.start(database.windlass().inbox(OPTIONS.withGuardLease(Duration.ofMinutes(10))))
                .inbox();
        eventually().ignoreExceptions().until(() -> other.begin("orders", "1") instanceof Begin.InProgress);
        inbox.markProcessed(attempt);
        assertThat(other.begin("orders", "1")).isInstanceOf(Begin.Done.class);
    }

    @Test
    void everyQueuedMessageIsHandledOnceThroughAKillOfTheDatabase() throws Exception {
        HandlerOptions patient = HandlerOptions.defaults()
                .withRetry(new RetryPolicy(100, Duration.ofMillis(5), Duration.ofMillis(50), 0));
        Windlass windlass = database.start(database.windlass()
                .inbox(OPTIONS.withMaxLeaseExpiries(100))
                .inboxHandlerInTransaction(
                        "a",
                        patient,
                        (connection, message) -> write(connection, message.key().messageId())));
        windlass.inbox()
                .enqueueAll(IntStream.range(0, 3000)
                        .mapToObj(n -> InboxEntry.of("orders", "message " + n, "a", ""))
                        .toList());
        eventually().until(() -> number("select count(*) from %s.ledger") > 100);
        database.server().kill();
        database.server().restart();
        eventually()
                .atMost(Duration.ofMinutes(2))
                .ignoreExceptions()
                .until(() -> number("select count(*) from %s.inbox where status = 2") == 3000);
        assertThat(number("select count(*) from %s.ledger")).isEqualTo(3000);
        assertThat(number("select count(distinct line) from %s.ledger")).isEqualTo(3000);
    }
}
