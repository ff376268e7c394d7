package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Claim. */
@OnEveryEngine
final class ClaimConformance extends OutboxConformance {

    @Test
    @Shows("OBX-021")
    void aClaimedMessageBearsTheTokenOfItsOwner() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);

        assertThat(column(UUID.class, "owner_token", id)).isEqualTo(owner.value());
        assertThat(stored(id).status()).isEqualTo(WorkStatus.IN_PROGRESS);
    }

    @Test
    @Shows("OBX-020")
    void theLeaseRunsFromTheDatabasesNow() {
        enqueue("topic");
        Instant before = database().now();
        OutboxWorkItemIdentifier id =
                outbox.claim(OwnerToken.fresh(), LEASE, 1).get(0).id();

        assertThat(time("locked_until", id))
                .isBetween(before.plus(LEASE), database().now().plus(LEASE));
    }

    /** Whatever is recommended: from the shortest lease that there is to a hundred years. */
    @ParameterizedTest
    @ValueSource(strings = {"PT0.000000001S", "PT10S", "PT300S", "PT876000H"})
    @Shows("OBX-116")
    void anyLeaseUpToAHundredYearsIsTakenAsItIs(Duration lease) {
        enqueue("topic");
        Instant before = database().now();
        OutboxWorkItemIdentifier id =
                outbox.claim(OwnerToken.fresh(), lease, 1).get(0).id();

        assertThat(time("locked_until", id))
                .isBetween(before.plus(lease), database().now().plus(lease));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "100, 100", "101, 101", "2147483647, 120"})
    @Shows("OBX-117")
    void aClaimTakesItsBatchSizeAtMostHoweverSmallOrLarge(int batchSize, int claimed) {
        enqueue("topic", 120);

        assertThat(claim(OwnerToken.fresh(), batchSize)).hasSize(claimed);
    }

    @Test
    @Shows("OBX-022")
    void aClaimAnswersWithTheWholeMessages() {
        Instant due = database().now().minus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MICROS);
        Instant expiry = due.plus(1, ChronoUnit.DAYS);
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("order.created", "{\"id\":1}")
                .withCorrelationId("order 1")
                .withHeaders(Map.of("trace", "abc"))
                .withDueTime(due)
                .withExpiresAt(expiry));
        enqueue("other");

        List<OutboxMessage> claimed = outbox.claim(OwnerToken.fresh(), LEASE, 10);

        assertThat(claimed).hasSize(2);
        OutboxMessage message = claimed.stream()
                .filter(each -> each.messageId().equals(id))
                .findFirst()
                .orElseThrow();
        assertThat(message).isEqualTo(outbox.find(id).orElseThrow());
        assertThat(message.payload()).isEqualTo("{\"id\":1}");
        assertThat(message.headers()).isEqualTo(Map.of("trace", "abc"));
        assertThat(message.correlationId()).contains("order 1");
        assertThat(message.dueTime()).contains(due);
        assertThat(message.expiresAt()).contains(expiry);
    }

    @Test
    @Shows("OBX-023")
    void aClaimOfNothingIsEmpty() {
        assertThat(outbox.claim(OwnerToken.fresh(), LEASE, 10)).isEmpty();
    }

    @Test
    @Shows({"OBX-017", "OBX-026"})
    void aClaimTakesNoMoreThanItAskedFor() {
        enqueue("a", 10);
        enqueue("b", 10);

        assertThat(claim(OwnerToken.fresh(), 1)).hasSize(1);
        assertThat(claim(OwnerToken.fresh(), 7)).hasSize(7);
        assertThat(claim(OwnerToken.fresh(), 100)).hasSize(12);
        assertThat(count("status = 1")).isEqualTo(20);
    }

    @Test
    @Shows({"OBX-019", "OBX-101"})
    void whatSomebodyHoldsIsNotClaimedAgain() {
        OutboxWorkItemIdentifier held = claimed(OwnerToken.fresh());
        OutboxWorkItemIdentifier free = workItem(enqueue("topic"));

        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(free);
        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
        assertThat(stored(held).status()).isEqualTo(WorkStatus.IN_PROGRESS);
    }

    @Test
    @Shows("OBX-024")
    void whatIsDoneIsNotClaimed() {
        OwnerToken owner = OwnerToken.fresh();
        outbox.ack(owner, List.of(claimed(owner)));

        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
    }

    @Test
    @Shows("OBX-025")
    void whatHasFailedIsNotClaimed() {
        OwnerToken owner = OwnerToken.fresh();
        outbox.fail(owner, List.of(claimed(owner)), "no");

        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
    }

    @Test
    void whatHasExpiredIsNotClaimed() {
        outbox.enqueue(
                OutboxEntry.of("topic", "").withExpiresAt(database().now().minusSeconds(1)));
        OutboxMessageIdentifier later = outbox.enqueue(
                OutboxEntry.of("topic", "").withExpiresAt(database().now().plusSeconds(3600)));

        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(workItem(later));
    }

    @Test
    void theOldestOfATopicComeFirst() {
        List<OutboxWorkItemIdentifier> ids =
                IntStream.range(0, 20).mapToObj(i -> workItem(enqueue("topic"))).toList();

        assertThat(claim(OwnerToken.fresh(), 5)).containsExactlyInAnyOrderElementsOf(ids.subList(0, 5));
        assertThat(claim(OwnerToken.fresh(), 5)).containsExactlyInAnyOrderElementsOf(ids.subList(5, 10));
    }

    /** Topics come in random order: the chance that the full one comes first sixty times is nil. */
    @Test
    void aFullTopicDoesNotKeepTheOthersWaiting() {
        enqueue("full", 700);
        OutboxWorkItemIdentifier other = workItem(enqueue("other"));

        assertThat(IntStream.range(0, 60)
                        .anyMatch(i -> claim(OwnerToken.fresh(), 10).contains(other)))
                .isTrue();
    }
}
