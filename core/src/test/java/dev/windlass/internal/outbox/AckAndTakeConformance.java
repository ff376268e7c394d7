package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.OrderedStore.Acked;
import dev.windlass.internal.queue.OrderedStore.Taker;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whoever ends a message of a key may take the next with it. */
@OnEveryEngine
final class AckAndTakeConformance extends OutboxConformance {
    private static final OwnerToken OWNER = OwnerToken.fresh();
    private static final Taker TAKER = new Taker(UUID.randomUUID(), LEASE, Set.of("topic"), Long.MAX_VALUE);

    @Test
    void theNextMessageOfTheKeyIsTakenByWhoeverAcks() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier next = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier third = workItem(enqueue(ordered("topic")));
        claim(OWNER, 10);
        Acked<OutboxMessage> acked = ackAndTake(first);
        assertThat(acked.answer().changed()).isEqualTo(1);
        assertThat(acked.anyReady()).isFalse();
        assertThat(acked.taken()).extracting(Claimed::id).containsExactly(next.value());
        assertThat(acked.taken().get(0).owner()).isEqualTo(TAKER.owner());
        assertThat(acked.taken().get(0).readable().payload()).isEqualTo("{}");
        assertThat(stored(first).status()).isEqualTo(WorkStatus.DONE);
        assertThat(stored(next).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(stored(third).status()).isEqualTo(WorkStatus.WAITING);
        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
    }

    @Test
    void whatIsTakenIsHeldLikeWhatIsClaimed() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier next = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier third = workItem(enqueue(ordered("topic")));
        claim(OWNER, 10);
        ackAndTake(first);
        assertThat(outbox.ack(OWNER, List.of(next))).isZero();
        runOutLease(List.of(next));
        assertThat(outbox.reapExpired()).isEqualTo(1);
        assertThat(claim(OWNER, 10)).containsExactly(next);
        assertThat(outbox.ack(OWNER, List.of(next))).isEqualTo(1);
        assertThat(claim(OWNER, 10)).containsExactly(third);
    }

    @Test
    void aMessageOfAnotherTopicBecomesReadyInstead() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier next = workItem(enqueue(ordered("other")));
        claim(OWNER, 10);
        becomesReady(ackAndTake(first), next);
    }

    @Test
    void aMessageOfAPausedTopicBecomesReadyInstead() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier next = workItem(enqueue(ordered("topic")));
        claim(OWNER, 10);
        outbox.operator("anna").pause("topic", "maintenance");
        Acked<OutboxMessage> acked = ackAndTake(first);
        assertThat(acked.taken()).isEmpty();
        outbox.operator("anna").resume("topic");
        assertThat(claim(OWNER, 10)).containsExactly(next);
    }

    @Test
    void aMessageThatIsNotDueBecomesReadyForItsTime() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier next = workItem(enqueue(ordered("topic").withDelay(Duration.ofHours(1))));
        claim(OWNER, 10);
        assertThat(ackAndTake(first).taken()).isEmpty();
        assertThat(stored(next).status()).isEqualTo(WorkStatus.READY);
        assertThat(time("next_attempt_at", next)).isAfter(Instant.now().plusSeconds(3000));
    }

    @Test
    void anExpiredMessageIsNotTaken() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        OutboxWorkItemIdentifier next = workItem(enqueue(ordered("topic")));
        claim(OWNER, 10);
        database().update("update %s.outbox set expires_at = created_at where id = ?", next.value());
        assertThat(ackAndTake(first).taken()).isEmpty();
        assertThat(claim(OWNER, 10)).isEmpty();
    }

    @Test
    void aMessageThatWasTriedBeforeIsLeftToTheNextClaim() throws SQLException {
        OutboxMessageIdentifier head = enqueue(ordered("topic"));
        claim(OWNER, 10);
        outbox.fail(OWNER, List.of(workItem(head)), "broken", FailedHead.IS_SKIPPED);
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        claim(OWNER, 10);
        outbox.operator("anna").requeue(List.of(head), Attempts.RESET);
        becomesReady(ackAndTake(first), workItem(head));
    }

    @Test
    void aMessageThatSomebodyCancelsJustNowIsNotWaitedFor() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        OutboxMessageIdentifier next = enqueue(ordered("topic"));
        OutboxWorkItemIdentifier third = workItem(enqueue(ordered("topic")));
        claim(OWNER, 10);
        try (Connection connection = database().connect()) {
            connection.setAutoCommit(false);
            assertThat(outbox.cancel(connection, next)).isTrue();
            Acked<OutboxMessage> acked = ackAndTake(first);
            assertThat(acked.taken()).isEmpty();
            assertThat(acked.anyReady()).isTrue();
            connection.commit();
        }
        assertThat(claim(OWNER, 10)).containsExactly(third);
    }

    @Test
    void messagesOfSeveralKeysAndOfNoneEndTogether() throws SQLException {
        List<OutboxWorkItemIdentifier> firsts = Stream.of("a", "b", "c")
                .map(key -> workItem(enqueue(ordered("topic").withOrderingKey(key))))
                .toList();
        OutboxWorkItemIdentifier loose = workItem(enqueue("topic"));
        OutboxWorkItemIdentifier nextOfA = workItem(enqueue(ordered("topic").withOrderingKey("a")));
        OutboxWorkItemIdentifier nextOfB = workItem(enqueue(ordered("other").withOrderingKey("b")));
        claim(OWNER, 10);
        Acked<OutboxMessage> acked =
                ackAndTake(Stream.concat(firsts.stream(), Stream.of(loose)).toArray(OutboxWorkItemIdentifier[]::new));
        assertThat(acked.answer().changed()).isEqualTo(4);
        assertThat(acked.taken()).extracting(Claimed::id).containsExactly(nextOfA.value());
        assertThat(claim(OWNER, 10)).containsExactly(nextOfB);
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key where ordering_key = 'c'"))
                .isZero();
    }

    @Test
    void whoHasLostItsLeaseTakesNothing() throws SQLException {
        OutboxWorkItemIdentifier first = workItem(enqueue(ordered("topic")));
        enqueue(ordered("topic"));
        claim(OWNER, 10);
        runOutLease(List.of(first));
        outbox.reapExpired();
        Acked<OutboxMessage> acked = ackAndTake(first);
        assertThat(acked.answer().changed()).isZero();
        assertThat(acked.taken()).isEmpty();
        assertThat(acked.anyReady()).isFalse();
        assertThat(claim(OWNER, 10)).containsExactly(first);
    }

    private void becomesReady(Acked<OutboxMessage> acked, OutboxWorkItemIdentifier next) {
        assertThat(acked.answer().changed()).isEqualTo(1);
        assertThat(acked.taken()).isEmpty();
        assertThat(acked.anyReady()).isTrue();
        assertThat(claim(OWNER, 10)).containsExactly(next);
    }

    private static OutboxEntry ordered(String topic) {
        return OutboxEntry.of(topic, "{}").withOrderingKey("key");
    }

    private OutboxMessageIdentifier enqueue(OutboxEntry entry) {
        return outbox.enqueue(entry);
    }

    private Acked<OutboxMessage> ackAndTake(OutboxWorkItemIdentifier... ids) throws SQLException {
        List<Held> held = Stream.of(ids)
                .map(id -> new Held(id.value(), OWNER.value(), true))
                .toList();
        return database().routines().once(connection -> store(LEASE).ackAndTake(connection, held, TAKER));
    }
}
