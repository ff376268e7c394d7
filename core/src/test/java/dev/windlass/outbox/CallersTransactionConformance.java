package dev.windlass.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OwnerToken;
import dev.windlass.Shows;
import dev.windlass.WindlassException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Enqueue in the caller's transaction. */
abstract class CallersTransactionConformance extends OutboxConformance {

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

    @Test
    void onAConnectionThatCommitsByItselfTheMessageExistsAtOnce() throws SQLException {
        try (Connection connection = database().connect()) {
            connection.setAutoCommit(true);
            OutboxMessageIdentifier id = outbox.enqueue(connection, OutboxEntry.of("topic", ""));

            assertThat(outbox.find(id)).isPresent();
        }
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
        String schema =
                database().routines().dialect().quote(database().routines().schema());
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into " + schema + ".outbox_join (join_id, expected_steps) values (?, 1)")) {
            insert.setObject(1, UUID.randomUUID());
            insert.executeUpdate();
        }
    }

    private long businessRows() {
        return database().value(Long.class, "select count(*) from %s.outbox_join");
    }
}
