package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages for the queue, each once. */
@Timeout(60)
@OnEveryEngine
final class EnqueueConformance extends InboxConformance {
    private static final Enqueued NEW = new Enqueued(true, false);
    private static final Enqueued KNOWN = new Enqueued(false, false);

    private List<InboxMessage> claimAll() {
        return inbox.claim(OwnerToken.fresh(), LEASE, 10_000);
    }

    @Test
    void aMessageComesBackAsItWasWritten() {
        inbox.enqueue(entry("1").withHeaders(Map.of("trace", "ä\"\\\n")).withHash(ContentHash.of("x")));
        InboxMessage message = claimAll().get(0);
        assertThat(message.key()).isEqualTo(new InboxKey(SOURCE, "1"));
        assertThat(message.topic()).isEqualTo("topic");
        assertThat(message.payload()).isEqualTo("payload of 1");
        assertThat(message.headers()).isEqualTo(Map.of("trace", "ä\"\\\n"));
        assertThat(message.retryCount() + message.leaseExpiries() + message.requeues())
                .isZero();
        assertThat(seen("1").hash()).contains(ContentHash.of("x"));
        assertThat(seen("1").payload()).contains("payload of 1");
        assertThat(seen("1").topic()).contains("topic");
    }

    @Test
    void theSecondArrivalIsNotStored() {
        assertThat(inbox.enqueue(entry("1"))).isEqualTo(NEW);
        assertThat(inbox.enqueue(entry("1"))).isEqualTo(KNOWN);
        assertThat(claimAll()).hasSize(1);
    }

    @Test
    void whatIsDoneStaysDone() {
        inbox.enqueue(entry("1"));
        OwnerToken owner = OwnerToken.fresh();
        inbox.ack(owner, List.of(inbox.claim(owner, LEASE, 1).get(0).id()));
        Instant before = seen("1").lastSeenAt();
        assertThat(inbox.enqueue(entry("1"))).isEqualTo(KNOWN);
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
        assertThat(seen("1").lastSeenAt()).isAfter(before);
    }

    @Test
    void whatTheGuardHasSeenStaysWhatItIs() {
        processed("done");
        inbox.markDead(begun("dead"), "no");
        begun("busy");
        assertThat(inbox.enqueueAll(List.of(entry("done"), entry("dead"), entry("busy"))))
                .containsExactly(KNOWN, KNOWN, KNOWN);
        assertThat(claimAll()).isEmpty();
        assertThat(count("topic is not null")).isZero();
    }

    @Test
    void whatFailedUnderTheGuardCanBeQueued() {
        InboxAttempt failed = begun("1");
        inbox.abandon(failed, "no", Duration.ZERO);
        assertThat(inbox.enqueue(entry("1"))).isEqualTo(NEW);
        InboxMessage message = claimAll().get(0);
        assertThat(message.payload()).isEqualTo("payload of 1");
        assertThat(message.retryCount()).isEqualTo(1);
    }

    @Test
    void whatTheGuardsOwnerWasNotHeardOfCanBeQueued() {
        begun("1");
        runOutLease("1");
        assertThat(inbox.enqueue(entry("1"))).isEqualTo(NEW);
        assertThat(claimAll().get(0).leaseExpiries()).isEqualTo(1);
    }

    @Test
    void aMessageOfTheCallersTransactionExistsWhenThatCommits() throws SQLException {
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueue(connection, entry("1"))).isEqualTo(NEW);
            assertThat(inbox.enqueue(connection, entry("1"))).isEqualTo(KNOWN);
            assertThat(claimAll()).isEmpty();
            connection.rollback();
            assertThat(inbox.find(SOURCE, "1")).isEmpty();
            assertThat(inbox.enqueue(connection, entry("1"))).isEqualTo(NEW);
            connection.commit();
        }
        assertThat(claimAll()).hasSize(1);
    }

    @Test
    void ofABatchTheFirstOfEachKeyIsStoredAndTheAnswersAreInOrder() {
        inbox.enqueue(entry("c"));
        List<InboxEntry> batch =
                List.of(entry("b"), entry("a"), InboxEntry.of(SOURCE, "b", "topic", "other"), entry("c"), entry("d"));
        assertThat(inbox.enqueueAll(batch)).containsExactly(NEW, NEW, KNOWN, KNOWN, NEW);
        assertThat(seen("b").payload()).contains("payload of b");
    }

    @Test
    void theOrderOfABatchIsTheOrderOfItsClaims() {
        List<InboxEntry> batch = IntStream.range(0, 200)
                .mapToObj(n -> entry("message " + (n * 37 % 200)))
                .toList();
        inbox.enqueueAll(batch);
        List<InboxMessage> claimed = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            List<InboxMessage> ten = inbox.claim(OwnerToken.fresh(), LEASE, 10);
            assertThat(ten)
                    .extracting(InboxMessage::key)
                    .containsExactlyInAnyOrderElementsOf(batch.subList(i * 10, i * 10 + 10).stream()
                            .map(InboxEntry::key)
                            .toList());
            claimed.addAll(ten);
        }
        assertThat(claimed).hasSize(200);
    }

    @Test
    void otherContentIsReported() {
        InboxEntry first = entry("1").withHash(ContentHash.of("a"));
        assertThat(inbox.enqueue(first)).isEqualTo(NEW);
        assertThat(inbox.enqueue(first)).isEqualTo(KNOWN);
        assertThat(inbox.enqueue(first.withHash(ContentHash.of("b")))).isEqualTo(new Enqueued(false, true));
        assertThat(inbox.enqueueAll(List.of(
                        entry("2").withHash(ContentHash.of("a")), entry("2").withHash(ContentHash.of("b")))))
                .containsExactly(NEW, new Enqueued(false, true));
    }

    @Test
    void aMessageCanBeDueLater() {
        inbox.enqueue(entry("1").withDelay(Duration.ofHours(1)));
        inbox.enqueue(entry("2").withDueTime(Instant.parse("2120-01-01T00:00:00Z")));
        inbox.enqueue(entry("3").withDueTime(Instant.parse("2020-01-01T00:00:00Z")));
        assertThat(claimAll()).extracting(InboxMessage::key).containsExactly(new InboxKey(SOURCE, "3"));
        endPause("1");
        assertThat(claimAll()).extracting(message -> message.key().messageId()).containsExactly("1");
    }

    @Test
    void noMessagesAreNoWork() throws SQLException {
        assertThat(inbox.enqueueAll(List.of())).isEmpty();
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueueAll(connection, List.of())).isEmpty();
        }
    }

    @Test
    void ofManyWritersOfTheSameMessagesOneStoresEach() throws Exception {
        List<InboxEntry> all =
                IntStream.range(0, 300).mapToObj(n -> entry("message " + n)).toList();
        List<Long> fresh = race(6, () -> {
            List<InboxEntry> mine = new ArrayList<>(all);
            Collections.shuffle(mine, new Random());
            long stored = 0;
            for (int from = 0; from < mine.size(); from += 50) {
                stored += inbox.enqueueAll(mine.subList(from, from + 50)).stream()
                        .filter(Enqueued::isNew)
                        .count();
            }
            return stored;
        });
        assertThat(fresh.stream().mapToLong(Long::longValue).sum()).isEqualTo(300);
        assertThat(count("status = 0")).isEqualTo(300);
    }

    /** A duplicate in a transaction that stays open would otherwise hold up the owner's mark, and a whole batch of acks. */
    @Test
    void aSecondArrivalInAnOpenTransactionHoldsUpNobody() throws SQLException {
        inbox.enqueue(entry("1"));
        OwnerToken owner = OwnerToken.fresh();
        InboxWorkItemIdentifier id = inbox.claim(owner, LEASE, 1).get(0).id();
        InboxAttempt attempt = begun("2");
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueueAll(connection, List.of(entry("1"), entry("2"))))
                    .containsExactly(KNOWN, KNOWN);
            assertThat(inbox.ack(owner, List.of(id))).isEqualTo(1);
            inbox.markProcessed(attempt);
            connection.commit();
        }
        assertThat(count("status = 2")).isEqualTo(2);
    }
}
