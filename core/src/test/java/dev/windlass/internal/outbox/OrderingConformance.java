package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Messages of one ordering key come one after another, whatever happens to those before them. */
@OnEveryEngine
final class OrderingConformance extends OutboxConformance {
    private static final OwnerToken OWNER = OwnerToken.fresh();

    private OutboxWorkItemIdentifier write(String topic, String key) {
        return workItem(outbox.enqueue(OutboxEntry.of(topic, "{}").withOrderingKey(key)));
    }

    private OutboxWorkItemIdentifier write(Connection connection, String key) {
        return workItem(outbox.enqueue(connection, OutboxEntry.of("topic", "{}").withOrderingKey(key)));
    }

    private void nothingIsLeftOfTheKeys() {
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key"))
                .isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key_freed"))
                .isZero();
    }

    @Test
    void onlyTheFirstOfAKeyCanBeClaimed() {
        OutboxWorkItemIdentifier first = write("topic", "key");
        OutboxWorkItemIdentifier second = write("topic", "key");
        OutboxWorkItemIdentifier third = write("another topic", "key");

        assertThat(claim(OWNER, 10)).containsExactly(first);
        assertThat(claim(OWNER, 10)).isEmpty();
        outbox.ack(OWNER, List.of(first));
        assertThat(claim(OWNER, 10)).containsExactly(second);
        outbox.ack(OWNER, List.of(second));
        assertThat(claim(OWNER, 10)).containsExactly(third);
        outbox.ack(OWNER, List.of(third));
        assertThat(claim(OWNER, 10)).isEmpty();
        nothingIsLeftOfTheKeys();
    }

    @Test
    void keysDoNotWaitForEachOtherNorForMessagesWithoutOne() {
        write("topic", "a");
        write("topic", "a");
        write("topic", "b");
        enqueue("topic");
        enqueue("topic");

        assertThat(claim(OWNER, 10)).hasSize(4);
    }

    @Test
    void aBatchKeepsTheOrderOfItsEntries() {
        List<OutboxWorkItemIdentifier> written = workItems(outbox.enqueueAll(List.of(
                OutboxEntry.of("topic", "0").withOrderingKey("a"),
                OutboxEntry.of("topic", "1").withOrderingKey("b"),
                OutboxEntry.of("topic", "2").withOrderingKey("a"),
                OutboxEntry.of("topic", "3"),
                OutboxEntry.of("topic", "4").withOrderingKey("a"),
                OutboxEntry.of("topic", "5").withOrderingKey("b"))));

        List<List<String>> rounds = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            List<OutboxMessage> claimed = outbox.claim(OWNER, LEASE, 10);
            rounds.add(claimed.stream().map(OutboxMessage::payload).sorted().toList());
            outbox.ack(OWNER, ids(claimed));
        }

        assertThat(written).hasSize(6).doesNotHaveDuplicates();
        assertThat(rounds).containsExactly(List.of("0", "1", "3"), List.of("2", "5"), List.of("4"));
        nothingIsLeftOfTheKeys();
    }

    @Test
    void aClaimedMessageTellsItsKey() {
        write("topic", "key");
        enqueue("other");

        assertThat(outbox.claim(OWNER, LEASE, 10))
                .extracting(message -> message.orderingKey().orElse("none"))
                .containsExactlyInAnyOrder("key", "none");
    }

    @Test
    void aRetryKeepsItsPlace() {
        OutboxWorkItemIdentifier first = write("topic", "key");
        write("topic", "key");
        claim(OWNER, 10);

        outbox.abandon(OWNER, List.of(first), Duration.ofHours(1), "not now");
        assertThat(claim(OWNER, 10)).isEmpty();
        endPause(first);
        assertThat(claim(OWNER, 10)).containsExactly(first);
        outbox.release(OWNER, List.of(first));
        assertThat(claim(OWNER, 10)).containsExactly(first);
        runOutLease(List.of(first));
        outbox.reapExpired();
        assertThat(claim(OWNER, 10)).containsExactly(first);
    }

    @Test
    void aFailedHeadBlocksItsKeyUntilItIsRequeued() {
        OutboxWorkItemIdentifier first = write("topic", "key");
        OutboxWorkItemIdentifier second = write("topic", "key");
        claim(OWNER, 10);

        outbox.fail(OWNER, List.of(first), "broken");
        assertThat(claim(OWNER, 10)).isEmpty();

        outbox.operator("anna").requeue(List.of(stored(first).messageId()), Attempts.RESET);
        assertThat(claim(OWNER, 10)).containsExactly(first);
        outbox.ack(OWNER, List.of(first));
        assertThat(claim(OWNER, 10)).containsExactly(second);
    }

    @Test
    void aFailedHeadIsSkippedIfThatIsTheChoice() {
        OutboxWorkItemIdentifier first = write("topic", "key");
        OutboxWorkItemIdentifier second = write("topic", "key");
        OutboxWorkItemIdentifier third = write("topic", "key");
        claim(OWNER, 10);

        outbox.fail(OWNER, List.of(first), "broken", FailedHead.IS_SKIPPED);
        assertThat(claim(OWNER, 10)).containsExactly(second);

        outbox.operator("anna").requeue(List.of(stored(first).messageId()), Attempts.RESET);
        assertThat(stored(first).status()).isEqualTo(WorkStatus.WAITING);
        outbox.ack(OWNER, List.of(second));
        assertThat(claim(OWNER, 10)).as("it was written before the third").containsExactly(first);
        outbox.ack(OWNER, List.of(first));
        assertThat(claim(OWNER, 10)).containsExactly(third);
        outbox.ack(OWNER, List.of(third));
        nothingIsLeftOfTheKeys();
    }

    @Test
    void purgingOrSkippingABlockingHeadLetsTheOthersGoOn() {
        OutboxWorkItemIdentifier purged = write("topic", "key");
        OutboxWorkItemIdentifier skipped = write("topic", "key");
        OutboxWorkItemIdentifier last = write("topic", "key");
        claim(OWNER, 10);
        outbox.fail(OWNER, List.of(purged), "broken");
        OutboxOperator anna = outbox.operator("anna");

        assertThat(anna.purge(List.of(stored(purged).messageId()))).isEqualTo(1);
        assertThat(claim(OWNER, 10)).containsExactly(skipped);
        outbox.fail(OWNER, List.of(skipped), "broken");
        assertThat(claim(OWNER, 10)).isEmpty();
        assertThat(anna.skip(List.of(stored(skipped).messageId()))).isEqualTo(1);
        assertThat(claim(OWNER, 10)).containsExactly(last);
        outbox.ack(OWNER, List.of(last));
        nothingIsLeftOfTheKeys();
    }

    @Test
    void expiryAndCancellationPassTheKeyOn() throws SQLException {
        OutboxWorkItemIdentifier expired = workItem(outbox.enqueue(
                OutboxEntry.of("topic", "").withOrderingKey("key").withExpiresAt(Instant.EPOCH)));
        OutboxWorkItemIdentifier cancelled = write("topic", "key");
        OutboxWorkItemIdentifier waitingExpired = workItem(outbox.enqueue(
                OutboxEntry.of("topic", "").withOrderingKey("key").withExpiresAt(Instant.EPOCH)));
        OutboxWorkItemIdentifier last = write("topic", "key");
        assertThat(claim(OWNER, 10)).isEmpty();

        assertThat(database()
                        .routines()
                        .<Integer>once(connection -> store(LEASE).expire(connection, 10)))
                .isEqualTo(2);
        assertThat(stored(expired).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(stored(waitingExpired).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(outbox.cancel(stored(cancelled).messageId())).isTrue();
        assertThat(claim(OWNER, 10)).containsExactly(last);
        outbox.ack(OWNER, List.of(last));
        nothingIsLeftOfTheKeys();
    }

    @Test
    void anEndDoesNotWaitForSomebodyWhoIsWritingToTheKeyAndHisMessageComesNext() throws SQLException {
        OutboxWorkItemIdentifier first = write("topic", "key");
        claim(OWNER, 10);
        try (Connection writer = database().connect()) {
            writer.setAutoCommit(false);
            OutboxWorkItemIdentifier second = write(writer, "key");

            assertThat(outbox.ack(OWNER, List.of(first))).isEqualTo(1);
            assertThat(claim(OWNER, 10)).isEmpty();
            writer.commit();

            assertThat(claim(OWNER, 10)).containsExactly(second);
            outbox.ack(OWNER, List.of(second));
            nothingIsLeftOfTheKeys();
        }
    }

    @Test
    void aWriterWhoRollsBackLeavesTheKeyFree() throws SQLException {
        OutboxWorkItemIdentifier first = write("topic", "key");
        claim(OWNER, 10);
        try (Connection writer = database().connect()) {
            writer.setAutoCommit(false);
            write(writer, "key");
            outbox.ack(OWNER, List.of(first));
            writer.rollback();
        }
        OutboxWorkItemIdentifier second = write("topic", "key");

        assertThat(claim(OWNER, 10)).containsExactly(second);
        outbox.ack(OWNER, List.of(second));
        nothingIsLeftOfTheKeys();
    }
}
