package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The queue's verbs. */
@Timeout(60)
@OnEveryEngine
final class QueueConformance extends InboxConformance {
    private OwnerToken owner;

    @BeforeEach
    void freshOwner() {
        owner = OwnerToken.fresh();
    }

    private List<InboxWorkItemIdentifier> claimed(String... ids) {
        inbox.enqueueAll(Stream.of(ids).map(this::entry).toList());
        return inbox.claim(owner, LEASE, 100).stream().map(InboxMessage::id).toList();
    }

    private static List<InboxWorkItemIdentifier> ids(List<InboxMessage> messages) {
        return messages.stream().map(InboxMessage::id).toList();
    }

    @Test
    void messagesThatOnlyGuardAreNeverClaimed() {
        begun("1");
        inbox.abandon(begun("2"), "again", Duration.ZERO);
        assertThat(inbox.claim(owner, LEASE, 100)).isEmpty();
        assertThat(inbox.reapExpired()).isZero();
        runOutLease("1");
        assertThat(inbox.reapExpired()).isZero();
        assertThat(inbox.claim(owner, LEASE, 100)).isEmpty();
    }

    @Test
    void ackEndsWhatTheOwnerHolds() {
        List<InboxWorkItemIdentifier> ids = claimed("1", "2");
        assertThat(inbox.ack(OwnerToken.fresh(), ids)).isZero();
        assertThat(inbox.ack(owner, ids)).isEqualTo(2);
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
        assertThat(seen("1").processedBy()).contains("node-1");
    }

    /** As a worker does whose first answer was lost. */
    @Test
    void anAckThatIsRepeatedCountsTheSame() {
        List<InboxWorkItemIdentifier> ids = claimed("1", "2", "3");
        assertThat(inbox.ack(owner, ids.subList(0, 1))).isEqualTo(1);
        assertThat(inbox.ack(owner, ids)).isEqualTo(3);
        assertThat(inbox.ack(owner, ids)).isEqualTo(3);
        assertThat(inbox.ack(owner, List.of(ids.get(0), ids.get(0)))).isEqualTo(1);
    }

    /** As a worker does who was not told that his transaction had been committed; its work must not be done again. */
    @Test
    void anAckOfATransactionThatIsRepeatedDoesNotCount() throws SQLException {
        List<InboxWorkItemIdentifier> ids = claimed("1", "2");
        try (Connection connection = transaction()) {
            assertThat(inbox.ack(connection, owner, ids.subList(0, 1))).isEqualTo(1);
            connection.commit();
            assertThat(inbox.ack(connection, owner, ids)).isEqualTo(1);
            connection.rollback();
        }
        assertThat(inbox.ack(owner, ids)).isEqualTo(2);
    }

    @Test
    void anAckOfTheCallersTransactionIsCommittedWithIt() throws SQLException {
        List<InboxWorkItemIdentifier> ids = claimed("1");
        try (Connection connection = transaction()) {
            assertThat(inbox.ack(connection, owner, ids)).isEqualTo(1);
            connection.rollback();
            assertThat(status("1")).isEqualTo(WorkStatus.IN_PROGRESS);
            assertThat(inbox.ack(connection, owner, ids)).isEqualTo(1);
            connection.commit();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void whatHasEndedCannotBeChanged() {
        List<InboxWorkItemIdentifier> ids = claimed("1");
        inbox.ack(owner, ids);
        assertThat(inbox.abandon(owner, ids)).isZero();
        assertThat(inbox.release(owner, ids)).isZero();
        assertThat(inbox.fail(owner, ids, "no")).isZero();
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void abandonCountsAFailureAndReleaseDoesNot() {
        List<InboxWorkItemIdentifier> ids = claimed("1");
        assertThat(inbox.release(owner, ids)).isEqualTo(1);
        assertThat(seen("1").retryCount()).isZero();
        inbox.claim(owner, LEASE, 1);
        assertThat(inbox.abandon(owner, ids, Duration.ZERO, "no")).isEqualTo(1);
        assertThat(seen("1").retryCount()).isEqualTo(1);
        assertThat(seen("1").lastError()).contains("no");
        inbox.claim(owner, LEASE, 1);
        assertThat(inbox.abandon(owner, ids)).isEqualTo(1);
        assertThat(inbox.claim(owner, LEASE, 1)).isEmpty();
        assertThat(count("next_attempt_at between " + database().plus("last_seen_at", Duration.ofMillis(1900)) + " and "
                        + database().plus("last_seen_at", Duration.ofSeconds(60))))
                .isEqualTo(1);
    }

    @Test
    void failGivesAMessageUp() {
        List<InboxWorkItemIdentifier> ids = claimed("1");
        assertThat(inbox.fail(owner, ids, "cannot be read")).isEqualTo(1);
        assertThat(status("1")).isEqualTo(WorkStatus.FAILED);
        assertThat(seen("1").lastError()).contains("cannot be read");
        assertThat(inbox.claim(owner, LEASE, 1)).isEmpty();
    }

    @Test
    void heartbeatRenewsWhatHasNotRunOut() {
        List<InboxWorkItemIdentifier> ids = claimed("1", "2");
        runOutLease("2");
        assertThat(inbox.heartbeat(owner, ids, Duration.ofHours(2))).isEqualTo(1);
        assertThat(count("locked_until > " + database().plus("last_seen_at", Duration.ofHours(1))))
                .isEqualTo(1);
    }

    @Test
    void reapReturnsWhatRanOutAndCountsItApart() {
        List<InboxWorkItemIdentifier> ids = claimed("1", "2");
        runOutLease("1");
        assertThat(inbox.reapExpired()).isEqualTo(1);
        assertThat(status("1")).isEqualTo(WorkStatus.READY);
        assertThat(seen("1").leaseExpiries()).isEqualTo(1);
        assertThat(seen("1").retryCount()).isZero();
        assertThat(status("2")).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(inbox.ack(owner, ids)).isEqualTo(1);
    }

    @Test
    void nothingIsReapedInTheFirstLeasePeriodAfterTheServersStart() {
        claimed("1");
        runOutLease("1");
        assertThat(inbox(OPTIONS.withLease(Duration.ofDays(365))).reapExpired()).isZero();
        assertThat(inbox.reapExpired()).isEqualTo(1);
    }

    @Test
    void whoWasReapedHasLostTheMessage() {
        List<InboxWorkItemIdentifier> ids = claimed("1");
        runOutLease("1");
        inbox.reapExpired();
        assertThat(inbox.ack(owner, ids)).isZero();
        assertThat(inbox.heartbeat(owner, ids, LEASE)).isZero();
        OwnerToken next = OwnerToken.fresh();
        inbox.claim(next, LEASE, 1);
        assertThat(inbox.ack(owner, ids)).isZero();
        assertThat(inbox.ack(next, ids)).isEqualTo(1);
    }

    @Test
    void noMessageIsEverClaimedByTwo() throws Exception {
        inbox.enqueueAll(
                IntStream.range(0, 800).mapToObj(n -> entry("message " + n)).toList());
        Map<InboxWorkItemIdentifier, OwnerToken> owners = new ConcurrentHashMap<>();
        race(8, () -> {
            List<InboxMessage> some;
            do {
                OwnerToken mine = OwnerToken.fresh();
                some = inbox.claim(mine, LEASE, 1 + ThreadLocalRandom.current().nextInt(15));
                for (InboxMessage message : some) {
                    assertThat(owners.put(message.id(), mine)).isNull();
                }
            } while (!some.isEmpty());
            return true;
        });
        // A racer may see nothing while others hold the last row locks; what is left is ready, and nobody's.
        ids(inbox.claim(owner, LEASE, 1000))
                .forEach(id -> assertThat(owners.put(id, owner)).isNull());
        assertThat(owners).hasSize(800);
    }

    @Test
    void nothingIsLostOrDoneTwiceWhenEverythingHappensAtOnce() throws Exception {
        inbox.enqueueAll(
                IntStream.range(0, 200).mapToObj(n -> entry("message " + n)).toList());
        Map<InboxWorkItemIdentifier, AtomicInteger> acked = new ConcurrentHashMap<>();
        race(8, () -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            while (acked.size() < 200) {
                OwnerToken mine = OwnerToken.fresh();
                List<InboxWorkItemIdentifier> ids =
                        ids(inbox.claim(mine, Duration.ofMillis(1 + random.nextInt(40)), 10));
                switch (random.nextInt(4)) {
                    case 0 -> inbox.abandon(mine, ids, Duration.ZERO, "again");
                    case 1 -> inbox.reapExpired();
                    default ->
                        ids.forEach(id -> {
                            if (inbox.ack(mine, List.of(id)) == 1) {
                                acked.computeIfAbsent(id, unused -> new AtomicInteger())
                                        .incrementAndGet();
                            }
                        });
                }
            }
            return true;
        });
        assertThat(count("status = 2")).isEqualTo(200);
        assertThat(acked.values()).allSatisfy(times -> assertThat(times).hasValue(1));
    }

    @Test
    void aMessageThatNobodyHasClaimedCanBeCancelled() throws SQLException {
        inbox.enqueueAll(List.of(entry("1"), entry("2")));
        assertThat(inbox.cancel(SOURCE, "1")).isTrue();
        assertThat(inbox.cancel(SOURCE, "1")).isFalse();
        assertThat(inbox.cancel(SOURCE, "unknown")).isFalse();
        assertThat(status("1")).isEqualTo(WorkStatus.CANCELLED);
        assertThat(inbox.enqueue(entry("1")).isNew()).isFalse();
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.Dead.class);
        try (Connection connection = transaction()) {
            assertThat(inbox.cancel(connection, SOURCE, "2")).isTrue();
            assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).isEmpty();
            connection.rollback();
        }
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
        assertThat(inbox.cancel(SOURCE, "2")).isFalse();
    }

    @Test
    void aMessageThatNobodyHasClaimedCanBeRescheduled() throws SQLException {
        inbox.enqueue(entry("1"));
        Instant later = Instant.parse("2120-01-01T00:00:00Z");
        assertThat(inbox.reschedule(SOURCE, "1", later)).isTrue();
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).isEmpty();
        try (Connection connection = transaction()) {
            assertThat(inbox.reschedule(connection, SOURCE, "1", Instant.EPOCH)).isTrue();
            connection.commit();
        }
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
        assertThat(inbox.reschedule(SOURCE, "1", later)).isFalse();
        assertThat(inbox.reschedule(SOURCE, "unknown", later)).isFalse();
    }

    @Test
    void everyFailedAttemptIsRemembered() {
        inbox.enqueue(entry("1"));
        inbox.abandon(owner, List.of(inbox.claim(owner, LEASE, 1).get(0).id()), Duration.ZERO, "first");
        inbox.fail(owner, List.of(inbox.claim(owner, LEASE, 1).get(0).id()), "second");
        assertThat(inbox.failures(SOURCE, "1"))
                .extracting(failure -> failure.error().orElseThrow())
                .containsExactly("first", "second");
        assertThat(inbox.failures(SOURCE, "unknown")).isEmpty();
    }

    @Test
    void aMessageThatExpiredIsNotClaimedAndFails() throws SQLException {
        Instant later = Instant.parse("2120-01-01T00:00:00Z");
        inbox.enqueueAll(List.of(entry("1").withExpiresAt(later), entry("2").withExpiresAt(later)));
        database().update("update %s.inbox set expires_at = created_at where message_id = '1'");
        List<InboxMessage> claimed = inbox.claim(OwnerToken.fresh(), LEASE, 10);
        assertThat(claimed).extracting(message -> message.key().messageId()).containsExactly("2");
        assertThat(claimed.get(0).expiresAt()).contains(later);
        InboxStore store = new InboxStore(database().routines(), "inbox", "node-1", Duration.ofDays(30), LEASE);
        assertThat(database()
                        .routines()
                        .once(connection -> store.expire(connection, 10))
                        .intValue())
                .isEqualTo(1);
        assertThat(status("1")).isEqualTo(WorkStatus.FAILED);
        assertThat(seen("1").lastError()).contains("expired before it was handled");
    }

    /** Only from SQL: a program keeps what is done until the retention is over. */
    @Test
    void aMessageWhoseRowAnAckHasDeletedIsDone() {
        inbox.enqueue(entry("1"));
        database().update("delete from %s.inbox");
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
        assertThat(inbox.begin(SOURCE, "1")).isInstanceOf(Begin.Done.class);
        assertThat(inbox.enqueue(entry("1")).isNew()).isFalse();
    }
}
