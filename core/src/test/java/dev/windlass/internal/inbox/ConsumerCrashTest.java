package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.TestDatabase;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.Processed.Outcome;
import dev.windlass.inbox.SeenMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Consumers that die or freeze in the middle of a message. */
final class ConsumerCrashTest {
    private static final Duration LEASE = Duration.ofSeconds(3);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private Inbox inbox;

    @BeforeEach
    void start() throws SQLException {
        database.execute("create table %s.ledger (line text)");
        database.execute("grant select, insert on %s.ledger to windlass_runtime");
        inbox = database.start(database.windlass().inbox(InboxOptions.defaults().withGuardLease(LEASE)))
                .inbox();
    }

    @AfterEach
    void dropLedger() throws SQLException {
        database.closeAll();
        database.execute("drop table %s.ledger");
    }

    private Outcome process() throws Exception {
        return inbox.process("orders", "1", ConsumerCrashTest::write).outcome();
    }

    private static void write(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("insert into " + database.schema() + ".ledger values ('parent')");
        }
    }

    private static String ledger() {
        return database.value(String.class, "select string_agg(line, ',') from %s.ledger");
    }

    @Test
    void theMessageOfAConsumerThatIsKilledIsProcessedByTheNext() throws Exception {
        try (Child child = Child.start(ConsumerMain.class, database, LEASE.toString())) {
            eventually().until(() -> child.said("working"));
            assertThat(process()).isEqualTo(Outcome.IN_PROGRESS);
            child.kill();
        }
        eventually().until(() -> process() == Outcome.PROCESSED);
        assertThat(ledger()).isEqualTo("parent");
        assertThat(inbox.find("orders", "1")).map(SeenMessage::leaseExpiries).contains(1);
    }

    @Test
    void aConsumerThatFreezesBeyondItsLeaseRollsBackWhatAnotherHasDoneMeanwhile() throws Exception {
        try (Child child = Child.start(ConsumerMain.class, database, LEASE.toString())) {
            eventually().until(() -> child.said("working"));
            child.freeze();
            eventually().until(() -> process() == Outcome.PROCESSED);
            child.thaw();
            child.goOn();
            eventually().until(() -> child.said("lost"));
        }
        assertThat(ledger()).isEqualTo("parent");
    }

    @Test
    void aConsumerThatFreezesWhileNobodyComesFinishesItsWork() throws Exception {
        try (Child child = Child.start(ConsumerMain.class, database, LEASE.toString())) {
            eventually().until(() -> child.said("working"));
            child.freeze();
            eventually()
                    .until(() -> database.value(
                            Boolean.class, "select bool_and(locked_until < clock_timestamp()) from %s.inbox_seen"));
            child.thaw();
            child.goOn();
            eventually().until(() -> child.said("PROCESSED"));
        }
        assertThat(process()).isEqualTo(Outcome.ALREADY_PROCESSED);
        assertThat(ledger()).isEqualTo("child");
    }

    @Test
    void aMessageThatKillsEveryConsumerIsGivenUp() throws Exception {
        InboxOptions options = InboxOptions.defaults().withGuardLease(LEASE).withMaxAttempts(2);
        Inbox strict = database.start(database.windlass().inbox(options)).inbox();
        for (int i = 0; i < 2; i++) {
            try (Child child = Child.start(ConsumerMain.class, database, LEASE.toString())) {
                eventually().until(() -> child.said("working"));
                child.kill();
            }
            eventually()
                    .until(() -> database.value(
                            Boolean.class, "select bool_and(locked_until < clock_timestamp()) from %s.inbox_seen"));
        }
        assertThat(strict.begin("orders", "1")).isInstanceOf(Begin.Dead.class);
        assertThat(ledger()).isNull();
    }
}
