package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.InboxAttempt;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who waits for whom when one message is stored twice. */
@Timeout(60)
final class PostgresEnqueueLockTest extends InboxConformance {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    private long reaped() {
        return inbox(OPTIONS.withGuardLease(Duration.ofMillis(1))).reapExpired();
    }

    private void lock(Connection connection, String id) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(
                "select from \"" + postgres.schema() + "\".inbox_seen where message_id = ? for update")) {
            select.setString(1, id);
            select.execute();
        }
    }

    /** The second caller tells his broker that the message is safe; so it has to be. */
    @Test
    void whatFailedUnderTheGuardIsQueuedForTheSecondIfTheFirstRollsBack() throws Exception {
        inbox.abandon(begun("1"), "no", Duration.ZERO);
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueue(connection, entry("1")).isNew()).isTrue();
            assertThat(inbox.enqueue(entry("1")).isNew()).isFalse();
            assertThat(reaped()).isZero();
            connection.rollback();
        }
        assertThat(reaped()).isEqualTo(1);
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
    }

    @Test
    void whatFailedUnderTheGuardIsQueuedOnceIfTheFirstCommits() throws Exception {
        inbox.abandon(begun("1"), "no", Duration.ZERO);
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueue(connection, entry("1")).isNew()).isTrue();
            assertThat(inbox.enqueue(entry("1")).isNew()).isFalse();
            connection.commit();
        }
        assertThat(reaped()).isZero();
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
    }

    /** If it waited, the server would end the transaction that has the lock, and its rollback would fail. */
    @Test
    void whatSomebodyHasLockedIsNotWaitedForAndNotLost() throws Exception {
        begun("busy");
        inbox.abandon(begun("failed"), "no", Duration.ZERO);
        processed("done");
        try (Connection connection = transaction()) {
            lock(connection, "busy");
            lock(connection, "failed");
            lock(connection, "done");
            assertThat(inbox.enqueueAll(List.of(entry("busy"), entry("failed"), entry("done"), entry("new"))))
                    .extracting(Enqueued::isNew)
                    .containsExactly(false, false, false, true);
            runningOut(connection, "busy");
            assertThat(reaped()).as("while they are locked").isZero();
            connection.commit();
        }
        assertThat(reaped()).isEqualTo(2);
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10))
                .extracting(message -> message.key().messageId())
                .containsExactlyInAnyOrder("busy", "failed", "new");
    }

    private void runningOut(Connection connection, String id) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("update \"" + postgres.schema()
                + "\".inbox_seen set locked_until = first_seen_at where message_id = ?")) {
            update.setString(1, id);
            update.executeUpdate();
        }
    }

    @Test
    void aMarkInAnOpenTransactionIsNotWaitedFor() throws Exception {
        InboxAttempt kept = begun("kept");
        InboxAttempt undone = begun("undone");
        try (Connection connection = transaction()) {
            inbox.markProcessed(connection, kept);
            assertThat(inbox.enqueue(entry("kept")).isNew()).isFalse();
            connection.commit();
            inbox.markProcessed(connection, undone);
            assertThat(inbox.enqueue(entry("undone")).isNew()).isFalse();
            connection.rollback();
        }
        runOutLease("undone");
        assertThat(reaped()).isEqualTo(1);
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10))
                .extracting(message -> message.key().messageId())
                .containsExactly("undone");
    }

    /** The one wait there is: two store the same new message, and only the commit tells which of them did. */
    @Test
    void aNewMessageThatSomebodyElseIsEnqueueingIsWaitedFor() throws Exception {
        try (Connection connection = transaction()) {
            inbox.enqueue(connection, entry("1"));
            CompletableFuture<Enqueued> second = CompletableFuture.supplyAsync(() -> inbox.enqueue(entry("1")));
            eventually().until(this::waitsForALock);
            connection.rollback();
            assertThat(second.get().isNew()).isTrue();
        }
    }

    private boolean waitsForALock() {
        return postgres.value(
                Boolean.class,
                "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%enqueue_all%')");
    }
}
