package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of marks and renewals when somebody else has the row locked. */
@Timeout(60)
final class PostgresGuardLockTest extends InboxConformance {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    private Connection lockingAll() throws SQLException {
        Connection connection = transaction();
        try (Statement statement = connection.createStatement()) {
            statement.execute("select from \"" + postgres.schema() + "\".inbox for update");
            statement.execute("select from \"" + postgres.schema() + "\".inbox_seen for update");
        }
        return connection;
    }

    private static void locked(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(WindlassException.class)
                .isNotInstanceOf(AttemptLostException.class)
                .hasMessageContaining("another transaction keeps its row locked; roll back");
    }

    @Test
    void aMarkInTheBusinessTransactionGivesUpAndCanBeTriedAgain() throws SQLException {
        InboxAttempt attempt = begun("1");
        try (Connection business = transaction()) {
            try (Connection other = lockingAll()) {
                locked(() -> inbox.markProcessed(business, attempt));
                business.rollback();
                other.rollback();
            }
            inbox.markProcessed(business, attempt);
            business.commit();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void whatIsCancelledAndCannotBeForgottenNowIsCancelledAllTheSame() throws SQLException {
        inbox.enqueue(InboxEntry.of(SOURCE, "1", "topic", "payload"));
        try (Connection other = transaction()) {
            postgres.lock(other, "inbox_seen", "message_id = ?", "1");
            assertThat(postgres.value(
                            Integer.class, "select %s.inbox_cancel(array(select id from %s.inbox), p_keep => false)"))
                    .isEqualTo(1);
            other.rollback();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.CANCELLED);
    }

    @Test
    void marksOfTheirOwnTransactionGiveUpToo() throws SQLException {
        InboxAttempt attempt = begun("1");
        List<Consumer<InboxAttempt>> marks = List.of(
                inbox::markProcessing,
                inbox::markProcessed,
                each -> inbox.markDead(each, "no"),
                each -> inbox.abandon(each, "no", Duration.ZERO));
        try (Connection other = lockingAll()) {
            for (Consumer<InboxAttempt> mark : marks) {
                locked(() -> mark.accept(attempt));
            }
            other.rollback();
        }
        inbox.markProcessing(attempt);
        inbox.markProcessed(attempt);
    }

    @Test
    void whoHasLostAnAttemptLearnsItAtOnceWhateverIsLocked() throws SQLException {
        begun("1");
        InboxAttempt invented = new InboxAttempt(new InboxKey(SOURCE, "1"), OwnerToken.fresh(), 1);
        try (Connection other = lockingAll()) {
            assertThatThrownBy(() -> inbox.markProcessing(invented)).isInstanceOf(AttemptLostException.class);
            assertThatThrownBy(() -> inbox.markProcessed(invented)).isInstanceOf(AttemptLostException.class);
            assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
            other.rollback();
        }
    }

    /** As a heartbeat does, for a moment. */
    @Test
    void anAckWithItsWorkWaitsForALockThatIsSoonGivenBack() throws Exception {
        inbox.enqueue(entry("1"));
        OwnerToken owner = OwnerToken.fresh();
        List<InboxWorkItemIdentifier> ids =
                List.of(inbox.claim(owner, LEASE, 1).get(0).id());
        try (Connection business = transaction();
                Connection other = lockingAll()) {
            CompletableFuture<Void> release = CompletableFuture.runAsync(() -> giveBack(other));
            assertThat(inbox.ack(business, owner, ids)).isEqualTo(1);
            business.commit();
            release.get();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    private static void giveBack(Connection connection) {
        try {
            Thread.sleep(100);
            connection.rollback();
        } catch (InterruptedException | SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anAckWithItsWorkThatFindsItsRowLockedSaysSoAndNotThatItIsLost() throws SQLException {
        inbox.enqueue(entry("1"));
        OwnerToken owner = OwnerToken.fresh();
        List<InboxWorkItemIdentifier> ids =
                List.of(inbox.claim(owner, LEASE, 1).get(0).id());
        try (Connection business = transaction();
                Connection other = lockingAll()) {
            assertThatThrownBy(() -> inbox.ack(business, owner, ids))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("keeps them locked; roll back and try again");
            business.rollback();
            other.rollback();
        }
        assertThat(inbox.ack(owner, ids)).isEqualTo(1);
    }

    /** For longer than a third of the lease: the renewal is tried again, until the row is free. */
    @Test
    void aRenewalOfALockedRowIsTriedAgain() throws Exception {
        Inbox brief = inbox(OPTIONS.withGuardLease(Duration.ofSeconds(6)));
        brief.process(SOURCE, "1", connection -> {
            Instant locked;
            try (Connection other = lockingAll()) {
                locked = seen("1").leaseUntil().orElseThrow();
                Thread.sleep(2500);
                assertThat(seen("1").leaseUntil()).contains(locked);
                other.rollback();
            }
            eventually().until(() -> seen("1").leaseUntil().orElseThrow().isAfter(locked));
        });
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }
}
