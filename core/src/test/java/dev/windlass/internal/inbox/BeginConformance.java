package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.inbox.SeenMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Beginning a message: who may, who may not, and what is counted. */
@Timeout(60)
@OnEveryEngine
final class BeginConformance extends InboxConformance {

    @Test
    void theFirstToBeginProceedsAndTheOthersAreToldThatItIsInProgress() {
        InboxAttempt attempt = begun("1");

        assertThat(attempt.number()).isEqualTo(1);
        assertThat(attempt.key()).isEqualTo(new InboxKey(SOURCE, "1"));
        assertThat(inbox.begin(SOURCE, "1"))
                .isInstanceOfSatisfying(
                        Begin.InProgress.class,
                        busy -> assertThat(busy.remaining()).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5)));
    }

    @Test
    void theSameIdOfAnotherSourceIsAnotherMessage() {
        begun("1");
        assertThat(inbox.begin("payments", "1")).isInstanceOf(Begin.Proceed.class);
        assertThat(inbox.begin("Orders", "1")).isInstanceOf(Begin.Proceed.class);
    }

    @Test
    void whatIsProcessedStaysProcessed() {
        processed("1");
        assertThat(inbox.begin(SOURCE, "1")).isEqualTo(new Begin.Done(false));
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void whatIsDeadStaysDead() {
        inbox.markDead(begun("1"), "cannot be read");
        assertThat(inbox.begin(SOURCE, "1")).isEqualTo(new Begin.Dead(false));
        assertThat(seen("1").lastError()).contains("cannot be read");
    }

    @Test
    void theAttemptIsCommittedWhenBeginReturns() throws SQLException {
        try (Connection connection = transaction()) {
            InboxAttempt attempt = begun("1");
            inbox.markProcessed(connection, attempt);
            connection.rollback();
            assertThat(seen("1").status()).isEqualTo(WorkStatus.IN_PROGRESS);
            inbox.markProcessed(attempt);
        }
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void whoBeginsAfterTheLeaseRanOutTakesOverAndTheAttemptIsCounted() {
        InboxAttempt first = begun("1");
        runOutLease("1");

        InboxAttempt second = begun(inbox(SHORT), "1");

        assertThat(second.number()).isEqualTo(2);
        assertThat(second.owner()).isNotEqualTo(first.owner());
        assertThat(seen("1").leaseExpiries()).isEqualTo(1);
    }

    /** The test's server has run for longer than the short lease, and not for as long as this one. */
    @Test
    void nothingIsTakenOverInTheFirstLeasePeriodAfterTheServersStart() {
        begun("1");
        runOutLease("1");
        Begin begin = inbox(OPTIONS.withGuardLease(Duration.ofDays(365))).begin(SOURCE, "1");
        assertThat(begin)
                .isInstanceOfSatisfying(
                        Begin.InProgress.class,
                        busy -> assertThat(busy.remaining()).isGreaterThan(Duration.ofDays(300)));
    }

    @Test
    void aMessageWhoseEveryOwnerIsLostIsGivenUp() {
        Inbox quick = inbox(SHORT);
        for (int number = 1; number <= 3; number++) {
            assertThat(begun(quick, "1").number()).isEqualTo(number);
            runOutLease("1");
        }
        assertThat(quick.begin(SOURCE, "1")).isEqualTo(new Begin.Dead(false));
        assertThat(seen("1").lastError())
                .hasValueSatisfying(error -> assertThat(error).contains("its lease ran out at the last of 3 attempts"));
    }

    @Test
    void aMessageIsGivenUpWhenItsLastAttemptFails() {
        assertThat(inbox.abandon(begun("1"), "a", Duration.ZERO)).isTrue();
        assertThat(inbox.abandon(begun("1"), "b", Duration.ZERO)).isTrue();
        InboxAttempt last = begun("1");
        assertThat(last.number()).isEqualTo(3);
        assertThat(inbox.abandon(last, "c", Duration.ZERO)).isFalse();
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.Dead.class);
        assertThat(seen("1").lastError()).contains("c");
        assertThat(seen("1").processedBy()).contains("node-1");
    }

    @Test
    void failuresAndLostLeasesUseUpTheSameAttempts() {
        Inbox quick = inbox(SHORT);
        inbox.abandon(begun("1"), "a", Duration.ZERO);
        begun("1");
        runOutLease("1");
        InboxAttempt last = begun(quick, "1");
        assertThat(last.number()).isEqualTo(3);
        assertThat(inbox.abandon(last, "c", Duration.ZERO)).isFalse();
    }

    @Test
    void arrivalsUseUpNoAttempt() {
        InboxAttempt attempt = begun("1");
        for (int i = 0; i < 10; i++) {
            inbox.begin(SOURCE, "1");
        }
        assertThat(inbox.abandon(attempt, "again", Duration.ZERO)).isTrue();
        assertThat(begun("1").number()).isEqualTo(2);
    }

    @Test
    void anArrivalIsNotedWhateverTheState() {
        processed("done");
        inbox.markDead(begun("dead"), "no");
        begun("busy");
        for (String id : List.of("done", "dead", "busy")) {
            SeenMessage before = seen(id);
            inbox.begin(SOURCE, id);
            assertThat(seen(id).lastSeenAt()).isAfter(before.lastSeenAt());
            assertThat(seen(id).firstSeenAt()).isEqualTo(before.firstSeenAt());
        }
    }

    @Test
    void aFailedMessageRestsForTheDelay() {
        inbox.abandon(begun("1"), "later", Duration.ofHours(1));
        assertThat(inbox.begin(SOURCE, "1"))
                .isInstanceOfSatisfying(
                        Begin.InProgress.class,
                        rest -> assertThat(rest.remaining()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60)));
        endPause("1");
        assertThat(begun("1").number()).isEqualTo(2);
    }

    @Test
    void otherContentUnderTheSameKeyIsReportedInEveryState() {
        ContentHash first = ContentHash.of("first");
        ContentHash other = ContentHash.of("other");
        Begin begin = inbox.begin(SOURCE, "1", first);
        assertThat(begin.contentDiffers()).isFalse();
        assertThat(inbox.begin(SOURCE, "1", first).contentDiffers()).isFalse();
        assertThat(inbox.begin(SOURCE, "1", other).contentDiffers()).isTrue();
        assertThat(inbox.begin(SOURCE, "1").contentDiffers()).isFalse();
        inbox.markProcessed(((Begin.Proceed) begin).attempt());
        assertThat(inbox.begin(SOURCE, "1", other)).isEqualTo(new Begin.Done(true));
        assertThat(seen("1").hash()).contains(first);
    }

    @Test
    void theFirstHashThatIsGivenCounts() {
        processed("1");
        assertThat(inbox.begin(SOURCE, "1", ContentHash.of("a")).contentDiffers())
                .isFalse();
        assertThat(inbox.begin(SOURCE, "1", ContentHash.of("b")).contentDiffers())
                .isTrue();
    }

    @Test
    void aMessageThatSomebodyIsAboutToEnqueueIsInProgress() throws SQLException {
        try (Connection connection = transaction()) {
            inbox.enqueue(connection, entry("1"));
            assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
            connection.rollback();
        }
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.Proceed.class);
    }

    @Test
    void whatSomebodyIsAboutToMarkIsInProgress() throws SQLException {
        InboxAttempt attempt = begun("1");
        try (Connection connection = transaction()) {
            inbox.markProcessed(connection, attempt);
            assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
            connection.commit();
        }
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.Done.class);
    }

    /** The owner is late, and at work on his commit: to wait for it would hold up the caller. */
    @Test
    void whatSomebodyIsAboutToMarkIsInProgressEvenIfItsLeaseRanOut() throws SQLException {
        InboxAttempt attempt = begun("1");
        runOutLease("1");
        try (Connection connection = transaction()) {
            inbox.markProcessed(connection, attempt);
            assertThat(inbox(SHORT).begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
            connection.commit();
        }
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.Done.class);
    }

    @Test
    void queuedMessagesAreInProgressUntilTheyEnd() {
        inbox.enqueue(entry("1"));
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
        OwnerToken owner = OwnerToken.fresh();
        InboxWorkItemIdentifier id = inbox.claim(owner, LEASE, 1).get(0).id();
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
        runOutLease("1");
        assertThat(inbox(SHORT).begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
        inbox.ack(owner, List.of(id));
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.Done.class);
    }

    /** As of a caller that stands still before his commit. */
    @Test
    void whoBeginsAQueuedMessageKeepsTheQueueFromNothing() throws SQLException {
        inbox.enqueue(entry("1"));
        OwnerToken owner = OwnerToken.fresh();
        try (Connection connection = transaction()) {
            GuardStore guard = new GuardStore(database().routines(), "inbox", "node-2");
            assertThat(guard.begin(connection, new InboxKey(SOURCE, "1"), OwnerToken.fresh(), LEASE, 3, null, true))
                    .isInstanceOf(Begin.InProgress.class);
            List<InboxWorkItemIdentifier> ids =
                    inbox.claim(owner, LEASE, 10).stream().map(InboxMessage::id).toList();
            assertThat(ids).hasSize(1);
            connection.rollback();
            guard.begin(connection, new InboxKey(SOURCE, "1"), OwnerToken.fresh(), LEASE, 3, null, true);
            assertThat(inbox.heartbeat(owner, ids, LEASE)).isEqualTo(1);
            assertThat(inbox.ack(owner, ids)).isEqualTo(1);
            connection.rollback();
        }
    }

    @Test
    void everyKindOfKeyIsKeptApart() {
        List<String> ids = List.of(
                "a", "A", " a", "ä", "a\u0308", "'; drop table inbox; --", "{}", "\u0001", "😀", "x".repeat(255));
        ids.forEach(this::begun);
        ids.forEach(id -> assertThat(seen(id).key().messageId()).isEqualTo(id));
        assertThat(count("status = 1")).isEqualTo(ids.size());
    }
}
