package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Ack. */
@OnEveryEngine
final class AckConformance extends OutboxConformance {

    @Test
    @Shows({"OBX-027", "OBX-028", "OBX-029"})
    void anAckedMessageIsDoneAndSaysWhenAndByWhom() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        Instant before = database().now();

        assertThat(outbox.ack(owner, List.of(id))).isEqualTo(1);

        OutboxMessage stored = stored(id);
        assertThat(stored.status()).isEqualTo(WorkStatus.DONE);
        assertThat(stored.isProcessed()).isTrue();
        assertThat(stored.processedAt().orElseThrow())
                .isBetween(before, database().now());
        assertThat(stored.processedBy()).contains("node-1");
        assertThat(count("locked_until is not null")).isZero();
    }

    @Test
    @Shows({"OBX-030", "OBX-031"})
    void nobodyElseCanAck() {
        OutboxWorkItemIdentifier id = claimed(OwnerToken.fresh());

        assertThat(outbox.ack(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(stored(id).status()).isEqualTo(WorkStatus.IN_PROGRESS);
    }

    @Test
    @Shows("OBX-031")
    void idsThatDoNotMatchAreIgnoredAndNotCounted() {
        OutboxWorkItemIdentifier others = claimed(OwnerToken.fresh());
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier mine = claimed(owner);
        OutboxWorkItemIdentifier ready = workItem(enqueue("topic"));
        OutboxWorkItemIdentifier unknown = new OutboxWorkItemIdentifier(UUID.randomUUID());

        assertThat(outbox.ack(owner, List.of(unknown, others, mine, ready))).isEqualTo(1);

        assertThat(stored(mine).isProcessed()).isTrue();
        assertThat(stored(others).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(stored(ready).status()).isEqualTo(WorkStatus.READY);
    }

    @Test
    @Shows("OBX-032")
    void anAckedMessageIsNotClaimedAgain() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        outbox.ack(owner, List.of(id));
        outbox.reapExpired();

        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
        assertThat(claim(owner, 10)).isEmpty();
    }

    @Test
    void duplicatedIdsCountOnceAndASecondAckIsToldThatItHolds() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);

        assertThat(outbox.ack(owner, List.of(id, id, id))).isEqualTo(1);
        assertThat(outbox.ack(owner, List.of(id))).isEqualTo(1);
        assertThat(outbox.ack(OwnerToken.fresh(), List.of(id))).isZero();
        assertThat(outbox.ack(owner, List.of())).isZero();
    }

    @Test
    void anAckAfterTheLeaseRanOutCountsAsLongAsNobodyTookTheMessage() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        runOutLease(List.of(id));

        assertThat(outbox.ack(owner, List.of(id))).isEqualTo(1);
    }

    @Test
    @Shows("OBX-030")
    void anAckAfterTheLeaseWasLostChangesNothing() {
        OwnerToken slow = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(slow);
        runOutLease(List.of(id));
        outbox.reapExpired();

        assertThat(outbox.ack(slow, List.of(id))).isZero();
        assertThat(stored(id).status()).isEqualTo(WorkStatus.READY);

        OwnerToken next = OwnerToken.fresh();
        assertThat(claim(next, 10)).containsExactly(id);
        assertThat(outbox.ack(slow, List.of(id))).isZero();
        assertThat(outbox.ack(next, List.of(id))).isEqualTo(1);
    }

    @Test
    void withoutRetentionAnAckedMessageIsDeleted() {
        Outbox deleting = outbox(OPTIONS.withRetention(Duration.ZERO));
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier mine = claimed(owner);
        OutboxWorkItemIdentifier others = claimed(OwnerToken.fresh());

        assertThat(deleting.ack(owner, List.of(mine, others))).isEqualTo(1);
        assertThat(count("1 = 1")).isEqualTo(1);
        assertThat(stored(others).status()).isEqualTo(WorkStatus.IN_PROGRESS);
    }
}
