package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Enqueue in a transaction of its own, alone and by the batch. */
@OnEveryEngine
final class EnqueueConformance extends OutboxConformance {

    @Test
    @Shows({"OBX-001", "OBX-002"})
    void aMessageIsCommittedWhenEnqueueReturns() {
        OutboxMessageIdentifier id = enqueue("order.created");

        assertThat(database().value(UUID.class, "select id from %s.outbox")).isEqualTo(id.value());
        assertThat(column(String.class, "topic", workItem(id))).isEqualTo("order.created");
        assertThat(column(String.class, "payload", workItem(id))).isEqualTo("{}");
    }

    @Test
    void everythingThatWasGivenIsStored() {
        Instant due = database().now().plus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MICROS);
        Instant expiry = due.plus(1, ChronoUnit.HOURS);

        OutboxMessage stored = stored(workItem(outbox.enqueue(OutboxEntry.of("order.created", "{\"id\":1}")
                .withCorrelationId("order 1")
                .withHeaders(Map.of("trace", "abc"))
                .withDueTime(due)
                .withExpiresAt(expiry))));

        assertThat(stored.topic()).isEqualTo("order.created");
        assertThat(stored.payload()).isEqualTo("{\"id\":1}");
        assertThat(stored.correlationId()).contains("order 1");
        assertThat(stored.headers()).isEqualTo(Map.of("trace", "abc"));
        assertThat(stored.dueTime()).contains(due);
        assertThat(stored.expiresAt()).contains(expiry);
        assertThat(stored.status()).isEqualTo(WorkStatus.READY);
    }

    @Test
    @Shows("OBX-016")
    void aNewMessageHasNoFailedAttemptAndIsNotProcessed() {
        OutboxMessage stored = stored(workItem(enqueue("topic")));

        assertThat(stored.retryCount()).isZero();
        assertThat(stored.leaseExpiries()).isZero();
        assertThat(stored.isProcessed()).isFalse();
        assertThat(stored.processedAt()).isEmpty();
        assertThat(stored.processedBy()).isEmpty();
        assertThat(stored.lastError()).isEmpty();
    }

    @Test
    @Shows("OBX-006")
    void theEmptyPayloadIsAPayload() {
        assertThat(stored(workItem(outbox.enqueue(OutboxEntry.of("topic", "")))).payload())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"open\":", "<a></b>", "plain", " \t\r\n ", "\u0001\u001f\u007f", "'; --", "\\", "%s {}"})
    @Shows("OBX-011")
    void aPayloadOfAnyFormatIsKeptAsItIs(String payload) {
        assertThat(stored(workItem(outbox.enqueue(OutboxEntry.of("topic", payload))))
                        .payload())
                .isEqualTo(payload);
    }

    @Test
    @Shows("OBX-008")
    void anEmptyCorrelationIdIsNone() {
        OutboxMessageIdentifier alone =
                outbox.enqueue(OutboxEntry.of("topic", "").withCorrelationId(""));
        List<OutboxMessageIdentifier> batch = outbox.enqueueAll(List.of(
                OutboxEntry.of("topic", "").withCorrelationId(""),
                OutboxEntry.of("topic", "").withCorrelationId("c")));

        assertThat(stored(workItem(alone)).correlationId()).isEmpty();
        assertThat(stored(workItem(batch.get(0))).correlationId()).isEmpty();
        assertThat(count("correlation_id is null")).isEqualTo(2);
    }

    @Test
    @Shows("OBX-010")
    void topicsThatDifferInCaseAreDifferentTopics() throws SQLException {
        enqueue("Order.Created");
        OutboxMessageIdentifier lower = enqueue("order.created");
        OutboxStore store = store(Duration.ofDays(1));
        List<WorkStore.Demand> demands = List.of(new WorkStore.Demand("order.created", 10, Position.START));

        try (Connection connection = database().connect()) {
            assertThat(store.claim(connection, UUID.randomUUID(), LEASE, 10, Long.MAX_VALUE, demands))
                    .extracting(claimed -> claimed.readable().messageId())
                    .containsExactly(lower);
        }
    }

    @Test
    @Shows({"OBX-012", "OBX-018"})
    void aMessageWithADueTimeIsNotClaimedBeforeIt() {
        Instant due = database().now().plusMillis(300);
        outbox.enqueue(OutboxEntry.of("topic", "soon").withDueTime(due));
        outbox.enqueue(OutboxEntry.of("topic", "late").withDueTime(due.plus(1, ChronoUnit.DAYS)));

        List<OutboxMessage> claimed =
                await().until(() -> outbox.claim(OwnerToken.fresh(), LEASE, 10), messages -> !messages.isEmpty());

        assertThat(database().now()).isAfterOrEqualTo(due);
        assertThat(claimed).extracting(OutboxMessage::payload).containsExactly("soon");
    }

    @Test
    @Shows({"OBX-012", "OBX-018"})
    void aMessageWithADelayIsDueThatMuchAfterItWasWritten() {
        OutboxWorkItemIdentifier id =
                workItem(outbox.enqueue(OutboxEntry.of("topic", "").withDelay(Duration.ofMinutes(10))));

        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
        assertThat(stored(id).dueTime()).contains(stored(id).createdAt().plus(Duration.ofMinutes(10)));
        assertThat(time("next_attempt_at", id)).isEqualTo(stored(id).dueTime().orElseThrow());
    }

    @Test
    @Shows({"OBX-013", "OBX-018"})
    void aMessageWithoutDueTimeOrWithOneInThePastIsClaimedAtOnce() {
        Instant past = database().now().minus(1, ChronoUnit.DAYS).truncatedTo(ChronoUnit.MICROS);
        OutboxWorkItemIdentifier none = workItem(enqueue("topic"));
        OutboxWorkItemIdentifier old =
                workItem(outbox.enqueue(OutboxEntry.of("topic", "").withDueTime(past)));

        assertThat(claim(OwnerToken.fresh(), 10)).containsExactlyInAnyOrder(none, old);
        assertThat(stored(old).dueTime()).contains(past);
    }

    @Test
    @Shows("OBX-014")
    void everyMessageHasAnIdentifierOfItsOwnThatGrows() {
        List<OutboxMessageIdentifier> ids = enqueue("topic", 1000);

        assertThat(ids).doesNotHaveDuplicates().hasSize(1000);
        assertThat(ids).extracting(id -> id.value().toString()).isSorted();
        assertThat(count("payload = 'payload 999'")).isEqualTo(1);
        assertThat(stored(workItem(ids.get(999))).payload()).isEqualTo("payload 999");
    }

    @Test
    @Shows("OBX-015")
    void theDatabasesClockSaysWhenAMessageWasWritten() {
        Instant before = database().now();
        OutboxWorkItemIdentifier alone = workItem(enqueue("topic"));
        OutboxWorkItemIdentifier batch = workItem(enqueue("topic", 1).get(0));

        assertThat(stored(alone).createdAt()).isBetween(before, database().now());
        assertThat(stored(batch).createdAt()).isBetween(before, database().now());
    }

    @Test
    @Shows("OBX-097")
    void aBatchIsWrittenAsAWholeOrNotAtAll() {
        database().update("alter table %s.outbox add constraint picky check (payload <> 'refused')");
        try {
            assertThatThrownBy(() -> outbox.enqueueAll(
                            List.of(OutboxEntry.of("topic", "accepted"), OutboxEntry.of("topic", "refused"))))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("could not enqueue 2 messages")
                    .hasCauseInstanceOf(SQLException.class);
            assertThat(count("1 = 1")).isZero();
        } finally {
            database().update("alter table %s.outbox drop constraint picky");
        }
    }

    @Test
    void anEmptyBatchWritesNothing() {
        assertThat(outbox.enqueueAll(List.of())).isEmpty();
        assertThat(count("1 = 1")).isZero();
    }

    @Test
    void aBatchKeepsTheOptionsOfEachEntry() {
        List<OutboxMessageIdentifier> ids = outbox.enqueueAll(List.of(
                OutboxEntry.of("a", "1").withHeaders(Map.of("h", "1")),
                OutboxEntry.of("b", "2").withCorrelationId("c"),
                OutboxEntry.of("c", "3").withDelay(Duration.ofHours(1))));

        assertThat(stored(workItem(ids.get(0))).headers()).isEqualTo(Map.of("h", "1"));
        assertThat(stored(workItem(ids.get(1))).correlationId()).contains("c");
        assertThat(stored(workItem(ids.get(1))).headers()).isEmpty();
        assertThat(stored(workItem(ids.get(2))).dueTime()).isPresent();
        assertThat(ids).extracting(id -> stored(workItem(id)).topic()).containsExactly("a", "b", "c");
    }
}
