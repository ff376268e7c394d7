package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Enqueue in the caller's transaction. */
@OnEveryEngine
final class CallersTransactionConformance extends OutboxConformance {
    private static final OutboxEntry GOOD = OutboxEntry.of("topic", "");

    @Test
    @Shows({"OBX-003", "OBX-098"})
    void aMessageIsInvisibleUntilTheCallerCommits() throws SQLException {
        try (Connection connection = transaction()) {
            OutboxMessageIdentifier alone = outbox.enqueue(connection, OutboxEntry.of("topic", ""));
            outbox.enqueueAll(connection, List.of(OutboxEntry.of("topic", ""), OutboxEntry.of("other", "")));

            assertThat(outbox.find(alone)).isEmpty();
            assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();

            connection.commit();
        }
        assertThat(claim(OwnerToken.fresh(), 10)).hasSize(3);
    }

    @Test
    @Shows("OBX-003")
    void aMessageIsGoneWhenTheCallerRollsBack() throws SQLException {
        try (Connection connection = transaction()) {
            outbox.enqueue(connection, OutboxEntry.of("topic", ""));
            outbox.enqueueAll(connection, List.of(OutboxEntry.of("topic", "")));
            connection.rollback();
        }
        assertThat(count("1 = 1")).isZero();
    }

    @Test
    @Shows("OBX-003")
    void enqueueNeitherEndsNorClosesTheCallersTransaction() throws SQLException {
        try (Connection connection = transaction()) {
            writeBusinessRow(connection);
            outbox.enqueue(connection, OutboxEntry.of("topic", ""));
            outbox.enqueueAll(connection, List.of(OutboxEntry.of("topic", "")));

            assertThat(connection.isClosed()).isFalse();
            assertThat(connection.getAutoCommit()).isFalse();
            assertThat(businessRows()).isZero();

            connection.rollback();
        }
        assertThat(businessRows()).isZero();
    }

    @Test
    void theBusinessChangeAndItsMessageAreCommittedTogether() throws SQLException {
        try (Connection connection = transaction()) {
            writeBusinessRow(connection);
            outbox.enqueue(connection, OutboxEntry.of("topic", ""));
            connection.commit();
        }
        assertThat(businessRows()).isEqualTo(1);
        assertThat(count("1 = 1")).isEqualTo(1);
    }

    @Test
    @Shows("OBX-003")
    void rollingBackToASavepointTakesOnlyWhatCameAfterIt() throws SQLException {
        OutboxMessageIdentifier before;
        OutboxMessageIdentifier after;
        try (Connection connection = transaction()) {
            before = outbox.enqueue(connection, OutboxEntry.of("topic", "before"));
            Savepoint savepoint = connection.setSavepoint();
            outbox.enqueue(connection, OutboxEntry.of("topic", "dropped"));
            connection.rollback(savepoint);
            after = outbox.enqueue(connection, OutboxEntry.of("topic", "after"));
            connection.commit();
        }
        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(workItem(before), workItem(after));
    }

    /** What Java refuses has not reached the database. */
    @Test
    @Shows("OBX-003")
    void anEntryThatIsRefusedLeavesTheCallersTransactionAsItWas() throws SQLException {
        try (Connection connection = transaction()) {
            writeBusinessRow(connection);
            for (ThrowingCallable refused : List.<ThrowingCallable>of(
                    () -> outbox.enqueue(connection, OutboxEntry.of(" ", "")),
                    () -> outbox.enqueueAll(connection, List.of(GOOD, OutboxEntry.of("t".repeat(256), ""))))) {
                assertThatThrownBy(refused).isInstanceOf(IllegalArgumentException.class);
            }
            assertThat(businessRows()).as("not committed").isZero();
            outbox.enqueue(connection, GOOD);

            connection.commit();
        }
        assertThat(businessRows()).as("not rolled back").isEqualTo(1);
        assertThat(count("1 = 1")).isEqualTo(1);
    }

    /**
     * A transaction in which a statement failed can only be rolled back, as a whole or to a savepoint; by whom it belongs to. A
     * savepoint that is still there proves that nobody else did.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Shows("OBX-003")
    void anEnqueueThatTheDatabaseRefusesNeitherCommitsNorRollsBack(boolean alone) throws SQLException {
        database().update("alter table %s.outbox add constraint picky check (payload <> 'refused')");
        OutboxEntry refused = OutboxEntry.of("topic", "refused");
        try (Connection connection = transaction()) {
            writeBusinessRow(connection);
            OutboxMessageIdentifier before = outbox.enqueue(connection, GOOD);
            Savepoint savepoint = connection.setSavepoint();
            outbox.enqueue(connection, OutboxEntry.of("topic", "dropped"));

            assertThatThrownBy(() -> {
                        if (alone) {
                            outbox.enqueue(connection, refused);
                        } else {
                            outbox.enqueueAll(connection, List.of(GOOD, refused));
                        }
                    })
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("picky");

            assertThat(connection.isClosed()).isFalse();
            assertThat(connection.getAutoCommit()).isFalse();
            assertThat(businessRows()).as("not committed").isZero();
            connection.rollback(savepoint);
            OutboxMessageIdentifier after = outbox.enqueue(connection, GOOD);
            connection.commit();

            assertThat(businessRows()).as("not rolled back").isEqualTo(1);
            assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(workItem(before), workItem(after));
        } finally {
            database().update("alter table %s.outbox drop constraint picky");
        }
    }

    @Test
    @Shows("OBX-003")
    void aMessageThatIsThereAlreadyLeavesTheCallersTransactionAsItWas() throws SQLException {
        OutboxEntry once = GOOD.withDeduplication("order 1", Duration.ofHours(1));
        OutboxMessageIdentifier first = outbox.enqueue(once);
        try (Connection connection = transaction()) {
            writeBusinessRow(connection);
            Savepoint savepoint = connection.setSavepoint();

            assertThat(outbox.enqueue(connection, once)).isEqualTo(first);
            assertThat(outbox.enqueueAll(connection, List.of(once))).containsExactly(first);

            assertThat(businessRows()).as("not committed").isZero();
            connection.rollback(savepoint);
            connection.commit();
        }
        assertThat(businessRows()).as("not rolled back").isEqualTo(1);
        assertThat(count("1 = 1")).isEqualTo(1);
    }

    @Test
    void aConnectionThatIsClosedIsReportedWithTheTopic() throws SQLException {
        Connection connection = database().connect();
        connection.close();

        assertThatThrownBy(() -> outbox.enqueue(connection, OutboxEntry.of("order.created", "")))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("could not enqueue a message of topic order.created")
                .hasCauseInstanceOf(SQLException.class);
        assertThat(count("1 = 1")).isZero();
    }

    private Connection transaction() throws SQLException {
        Connection connection = database().connect();
        connection.setAutoCommit(false);
        return connection;
    }

    /** A table that the program's user can write to stands for the business's. */
    private void writeBusinessRow(Connection connection) throws SQLException {
        database()
                .update(
                        connection,
                        "insert into %s.windlass_join_gone (message_id, gone_at, status) values (?, ?, 1)",
                        UUID.randomUUID(),
                        database().now());
    }

    private long businessRows() {
        return database().value(Long.class, "select count(*) from %s.windlass_join_gone");
    }
}
