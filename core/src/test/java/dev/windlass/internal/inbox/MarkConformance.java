package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of attempts, and what becomes of those who come too late. */
@Timeout(60)
@OnEveryEngine
final class MarkConformance extends InboxConformance {

    private List<Consumer<InboxAttempt>> marks() {
        return List.of(
                inbox::markProcessing,
                inbox::markProcessed,
                attempt -> inbox.markDead(attempt, "no"),
                attempt -> inbox.abandon(attempt, "no", Duration.ZERO));
    }

    private static void lost(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(AttemptLostException.class)
                .hasMessageContaining("expected attempt")
                .hasMessageContaining("1 of source orders");
    }

    @Test
    void theBusinessChangeAndTheMarkAreCommittedTogether() throws SQLException {
        InboxAttempt attempt = begun("1");
        try (Connection connection = transaction()) {
            inbox.markProcessed(connection, attempt);
            assertThat(status("1")).isEqualTo(WorkStatus.IN_PROGRESS);
            connection.commit();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
        assertThat(seen("1").processedBy()).contains("node-1");
        assertThat(seen("1").endedAt()).isPresent();
        assertThat(seen("1").isProcessed()).isTrue();
    }

    @Test
    void whoHasLostAnAttemptCannotMarkIt() throws SQLException {
        InboxAttempt lost = begun("1");
        runOutLease("1");
        InboxAttempt next = begun(inbox(SHORT), "1");

        marks().forEach(mark -> lost(() -> mark.accept(lost)));
        try (Connection connection = transaction()) {
            lost(() -> inbox.markProcessed(connection, lost));
            connection.rollback();
        }

        inbox.markProcessed(next);
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void nobodyCanMarkWithAnInventedToken() {
        begun("1");
        InboxAttempt invented = new InboxAttempt(new InboxKey(SOURCE, "1"), OwnerToken.fresh(), 1);
        marks().forEach(mark -> lost(() -> mark.accept(invented)));
        assertThat(status("1")).isEqualTo(WorkStatus.IN_PROGRESS);
    }

    @Test
    void aMessageThatNobodyHasSeenCannotBeMarked() {
        InboxAttempt invented = new InboxAttempt(new InboxKey(SOURCE, "1"), OwnerToken.fresh(), 1);
        marks().forEach(mark -> lost(() -> mark.accept(invented)));
        assertThat(inbox.find(SOURCE, "1")).isEmpty();
    }

    @Test
    void aLeaseThatRanOutIsNotRenewedButCanStillBeMarkedAsProcessed() {
        InboxAttempt attempt = begun("1");
        runOutLease("1");
        lost(() -> inbox.markProcessing(attempt));
        inbox.markProcessed(attempt);
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void markProcessingRenewsTheLease() {
        InboxAttempt attempt = begun("1");
        Instant before = seen("1").leaseUntil().orElseThrow();
        inbox.markProcessing(attempt);
        assertThat(seen("1").leaseUntil().orElseThrow()).isAfter(before);
    }

    /** As a caller does whose first answer was lost. */
    @Test
    void whoRepeatsHisMarkIsToldThatItHolds() {
        InboxAttempt done = begun("1");
        inbox.markProcessed(done);
        Instant ended = seen("1").endedAt().orElseThrow();
        inbox.markProcessed(done);
        assertThat(seen("1").endedAt()).contains(ended);
        lost(() -> inbox.markDead(done, "no"));
        lost(() -> inbox.abandon(done, "no", Duration.ZERO));

        InboxAttempt dead = begun("2");
        inbox.markDead(dead, "no");
        inbox.markDead(dead, "no");
        assertThat(status("2")).isEqualTo(WorkStatus.FAILED);
    }

    /** As a caller does who was not told that his transaction had been committed; its work must not be done again. */
    @Test
    void whoRepeatsHisTransactionIsToldThatItsAttemptIsOver() throws SQLException {
        InboxAttempt attempt = begun("1");
        try (Connection connection = transaction()) {
            inbox.markProcessed(connection, attempt);
            connection.commit();
            lost(() -> inbox.markProcessed(connection, attempt));
            connection.rollback();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void anAbandonedAttemptIsOver() {
        InboxAttempt attempt = begun("1");
        inbox.abandon(attempt, "again", Duration.ZERO);
        marks().forEach(mark -> lost(() -> mark.accept(attempt)));
        assertThat(seen("1").lastError()).contains("again");
        assertThat(seen("1").retryCount()).isEqualTo(1);
    }

    @Test
    void errorsAreBounded() {
        String full = "😀".repeat(2000);
        inbox.abandon(begun("1"), full, Duration.ZERO);
        assertThat(seen("1").lastError().orElseThrow()).isEqualTo("😀".repeat(1024));
        inbox.markDead(begun("1"), "x".repeat(3000));
        assertThat(seen("1").lastError()).contains("x".repeat(2048));
    }

    @Test
    void aMarkInATransactionThatHasFailedIsAnErrorOfTheTransaction() throws SQLException {
        InboxAttempt attempt = begun("1");
        try (Connection connection = transaction();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("nonsense")).isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> inbox.markProcessed(connection, attempt))
                    .hasMessageContaining("could not mark message 1 of source orders as processed");
            connection.rollback();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.IN_PROGRESS);
    }
}
