package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.ListedMessage;
import dev.windlass.operator.MessageFilter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that are enqueued while somebody has begun them without the queue. */
@Timeout(60)
@OnEveryEngine
final class RedeliveryConformance extends InboxConformance {
    private static final Enqueued KNOWN = new Enqueued(false, false);

    /** Whose quiet time after the server's start is over. */
    private Inbox quick;

    @BeforeEach
    void startForTakeOvers() {
        quick = inbox(OPTIONS.withGuardLease(Duration.ofMillis(1)));
    }

    private List<InboxMessage> claimAll() {
        return inbox.claim(OwnerToken.fresh(), LEASE, 10_000);
    }

    private long keptAside() {
        return database().value(Long.class, "select count(*) from %s.inbox where status = 4");
    }

    /** The consumer of the redelivery acknowledges it; nobody else will ever come back to the message. */
    @Test
    void aMessageWhoseFirstConsumerDiesIsWorkOfTheQueue() {
        begun("1");
        assertThat(inbox.enqueue(entry("1"))).isEqualTo(KNOWN);
        runOutLease("1");
        assertThat(quick.reapExpired()).isEqualTo(1);
        InboxMessage message = claimAll().get(0);
        assertThat(message.payload()).isEqualTo("payload of 1");
        assertThat(message.leaseExpiries()).isEqualTo(1);
        assertThat(keptAside()).isZero();
        assertThat(quick.reapExpired()).isZero();
        assertThat(claimAll()).isEmpty();
    }

    @Test
    void aMessageWhoseFirstConsumerFinishesIsNeverDispatched() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        inbox.markProcessed(attempt);
        assertThat(quick.reapExpired()).isZero();
        assertThat(claimAll()).isEmpty();
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
        assertThat(keptAside()).isZero();
    }

    @Test
    void aMessageWhoseFirstConsumerGivesItUpIsNeverDispatched() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        inbox.markDead(attempt, "no");
        assertThat(quick.reapExpired()).isZero();
        assertThat(claimAll()).isEmpty();
        assertThat(keptAside()).isZero();
    }

    /** A failure says that its owner lives no longer in it: there is nothing to wait for after a start of the server. */
    @Test
    void aMessageWhoseFirstConsumerFailsIsWorkOfTheQueue() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        inbox.abandon(attempt, "no", Duration.ZERO);
        assertThat(inbox(OPTIONS.withGuardLease(Duration.ofDays(365))).reapExpired())
                .isEqualTo(1);
        assertThat(claimAll()).hasSize(1);
        assertThat(seen("1").retryCount()).isEqualTo(1);
    }

    @Test
    void theRestAfterAFailureIsKept() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        inbox.abandon(attempt, "no", Duration.ofHours(1));
        assertThat(quick.reapExpired()).isEqualTo(1);
        assertThat(claimAll()).isEmpty();
        endPause("1");
        assertThat(claimAll()).hasSize(1);
    }

    @Test
    void whatIsGoingOnStaysWithItsOwner() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        assertThat(quick.reapExpired()).isZero();
        assertThat(claimAll()).isEmpty();
        assertThat(keptAside()).isEqualTo(1);
        inbox.markProcessed(attempt);
    }

    @Test
    void theFirstOfSeveralArrivalsCounts() {
        begun("1");
        InboxEntry first = entry("1").withHeaders(Map.of("a", "b")).withHash(ContentHash.of("x"));
        assertThat(inbox.enqueue(first.withDelay(Duration.ofHours(1)))).isEqualTo(KNOWN);
        assertThat(inbox.enqueue(InboxEntry.of(SOURCE, "1", "other", "other"))).isEqualTo(KNOWN);
        runOutLease("1");
        quick.reapExpired();
        assertThat(claimAll()).isEmpty();
        endPause("1");
        InboxMessage message = claimAll().get(0);
        assertThat(message.topic()).isEqualTo("topic");
        assertThat(message.payload()).isEqualTo("payload of 1");
        assertThat(message.headers()).isEqualTo(Map.of("a", "b"));
        assertThat(message.dueTime()).isPresent();
        assertThat(seen("1").hash()).contains(ContentHash.of("x"));
    }

    @Test
    void anArrivalAfterTheLeaseIsWorkAtOnceAndTheEarlierOneIsDropped() {
        begun("1");
        inbox.enqueue(entry("1"));
        runOutLease("1");
        assertThat(inbox.enqueue(InboxEntry.of(SOURCE, "1", "topic", "other")).isNew())
                .isTrue();
        assertThat(quick.reapExpired()).isZero();
        assertThat(keptAside()).isZero();
        assertThat(claimAll()).extracting(InboxMessage::payload).containsExactly("other");
    }

    @Test
    void aCopyThatWaitsCanBeCancelledAndLeavesTheMessageToItsOwner() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        assertThat(inbox.cancel(SOURCE, "1")).isTrue();
        assertThat(keptAside()).isZero();
        assertThat(count("1 = 1")).isEqualTo(1);
        inbox.abandon(attempt, "no", Duration.ZERO);
        assertThat(quick.reapExpired()).isZero();
        assertThat(begun("1").number()).isEqualTo(2);
    }

    @Test
    void aCopyThatExpiresWhileItWaitsIsDropped() throws SQLException {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1").withExpiresAt(Instant.parse("2120-01-01T00:00:00Z")));
        database().update("update %s.inbox set expires_at = created_at");
        InboxStore store = new InboxStore(database().routines(), "inbox", "node-1", Duration.ofDays(30), LEASE);
        assertThat(database()
                        .routines()
                        .once(connection -> store.expire(connection, 10))
                        .intValue())
                .isEqualTo(1);
        assertThat(keptAside()).isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.inbox"))
                .isZero();
        inbox.markProcessed(attempt);
    }

    @Test
    void aCopyThatWaitsIsListedAndCanBeRescheduled() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        assertThat(inbox.operator("anna").list(MessageFilter.all().withStatus(WorkStatus.WAITING), 10))
                .extracting(ListedMessage::key)
                .containsExactly(new InboxKey(SOURCE, "1"));
        assertThat(inbox.reschedule(SOURCE, "1", Instant.parse("2120-01-01T00:00:00Z")))
                .isTrue();
        inbox.abandon(attempt, "no", Duration.ZERO);
        assertThat(quick.reapExpired()).isEqualTo(1);
        assertThat(claimAll()).isEmpty();
    }

    @Test
    void itIsPartOfTheCallersTransaction() throws SQLException {
        begun("1");
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueue(connection, entry("1"))).isEqualTo(KNOWN);
            connection.rollback();
            assertThat(keptAside()).isZero();
            assertThat(inbox.enqueueAll(connection, List.of(entry("1"), entry("2"))))
                    .containsExactly(KNOWN, new Enqueued(true, false));
            connection.commit();
        }
        assertThat(keptAside()).isEqualTo(1);
    }

    @Test
    void anOwnerThatMayHaveLivedThroughAnOutageComesFirst() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        runOutLease("1");
        assertThat(inbox(OPTIONS.withGuardLease(Duration.ofDays(365))).reapExpired())
                .isZero();
        inbox.markProcessed(attempt);
        assertThat(quick.reapExpired()).isZero();
        assertThat(claimAll()).isEmpty();
    }

    /** The server has not been up for as long as its lease was. */
    @Test
    void anArrivalTakesNothingFromAnOwnerThatMayHaveLivedThroughAnOutage() {
        InboxAttempt attempt = begun("1");
        database()
                .update("update %s.inbox_seen set locked_until = first_seen_at, claimed_at = "
                        + database().plus("first_seen_at", Duration.ofDays(-365)));
        assertThat(inbox.enqueue(entry("1"))).isEqualTo(KNOWN);
        assertThat(claimAll()).isEmpty();
        inbox.markProcessed(attempt);
    }

    @Test
    void whatTheInboxHasForgottenMeanwhileIsWorkOfTheQueue() {
        begun("1");
        inbox.enqueue(entry("1"));
        database().update("delete from %s.inbox_seen");
        assertThat(quick.reapExpired()).isEqualTo(1);
        assertThat(claimAll()).hasSize(1);
    }

    @Test
    void whatAnOperatorPurgesIsForgottenWithAllThatCameForIt() {
        InboxAttempt attempt = begun("1");
        inbox.enqueue(entry("1"));
        inbox.markDead(attempt, "no");
        assertThat(inbox.operator("anna").purge(List.of(new InboxKey(SOURCE, "1"))))
                .isEqualTo(1);
        assertThat(quick.reapExpired()).isZero();
        assertThat(claimAll()).isEmpty();
    }

    @Test
    void manyBecomeWorkInBatches() {
        List<InboxEntry> many =
                IntStream.range(0, 1100).mapToObj(n -> entry("message " + n)).toList();
        many.forEach(each -> begun(each.key().messageId()));
        inbox.enqueueAll(many);
        database().update("update %s.inbox_seen set locked_until = first_seen_at");
        assertThat(quick.reapExpired()).isEqualTo(1100);
        assertThat(claimAll()).hasSize(1100);
    }

    /** Whatever comes first, a message is ended by its first consumer or given to the queue, and never both or neither. */
    @Test
    void everyMessageIsProcessedOnceWhoeverComesFirst() throws Exception {
        int messages = 120;
        Queue<String> done = new ConcurrentLinkedQueue<>();
        Queue<InboxMessage> claimed = new ConcurrentLinkedQueue<>();
        List<InboxAttempt> attempts = IntStream.range(0, messages)
                .mapToObj(n -> begun("message " + n))
                .toList();
        AtomicInteger nextAttempt = new AtomicInteger();
        AtomicInteger nextArrival = new AtomicInteger();
        race(6, () -> {
            while (nextAttempt.get() < messages || nextArrival.get() < 2 * messages) {
                int arrival = nextArrival.getAndIncrement();
                if (arrival < 2 * messages) {
                    inbox.enqueue(entry("message " + arrival / 2));
                }
                int attempt = nextAttempt.getAndIncrement();
                if (attempt < messages) {
                    finish(attempts.get(attempt), done);
                }
                quick.reapExpired();
                claimed.addAll(inbox.claim(OwnerToken.fresh(), LEASE, 3));
            }
            return true;
        });
        database().update("update %s.inbox_seen set locked_until = first_seen_at where status = 1");
        quick.reapExpired();
        claimed.addAll(claimAll());
        Set<String> all = new HashSet<>(done);
        claimed.forEach(message ->
                assertThat(all.add(message.key().messageId())).as("%s", message).isTrue());
        assertThat(all).hasSize(messages);
        assertThat(keptAside()).isZero();
    }

    /** Ends well, fails, or is not heard of again. */
    private void finish(InboxAttempt attempt, Queue<String> done) {
        switch (ThreadLocalRandom.current().nextInt(4)) {
            case 0 -> inbox.abandon(attempt, "no", Duration.ZERO);
            case 1 ->
                database()
                        .update(
                                "update %s.inbox_seen set locked_until = first_seen_at where status = 1 and message_id = ?",
                                attempt.key().messageId());
            case 2 -> {}
            default -> {
                inbox.markProcessed(attempt);
                done.add(attempt.key().messageId());
            }
        }
    }
}
