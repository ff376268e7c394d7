package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Fail. */
@OnEveryEngine
final class FailConformance extends OutboxConformance {

    @Test
    @Shows({"OBX-042", "OBX-043"})
    void aFailedMessageSaysWhy() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);

        assertThat(outbox.fail(owner, List.of(id), "the customer is gone")).isEqualTo(1);

        OutboxMessage stored = stored(id);
        assertThat(stored.status()).isEqualTo(WorkStatus.FAILED);
        assertThat(stored.lastError()).contains("the customer is gone");
        assertThat(stored.isProcessed()).isFalse();
        assertThat(stored.processedAt()).isEmpty();
        assertThat(stored.processedBy()).contains("node-1");
        assertThat(count("locked_until is null and ended_at is not null")).isEqualTo(1);
    }

    @Test
    void aMessageThatFailsWithoutATextKeepsWhatIsKnownOfItsLastAttempt() {
        OwnerToken first = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(first);
        outbox.abandon(first, List.of(id), Duration.ZERO, "refused");
        OwnerToken second = OwnerToken.fresh();
        claim(second, 1);

        assertThat(outbox.fail(second, List.of(id))).isEqualTo(1);

        assertThat(stored(id).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(stored(id).lastError()).contains("refused");
    }

    @Test
    @Shows({"OBX-042", "OBX-048"})
    void aFailedMessageIsNotClaimedAgain() {
        OwnerToken owner = OwnerToken.fresh();
        outbox.fail(owner, List.of(claimed(owner)), "no");
        outbox.reapExpired();

        assertThat(claim(OwnerToken.fresh(), 10)).isEmpty();
    }

    @Test
    @Shows("OBX-044")
    void nobodyElseCanFail() {
        OutboxWorkItemIdentifier id = claimed(OwnerToken.fresh());

        assertThat(outbox.fail(OwnerToken.fresh(), List.of(id), "no")).isZero();
        assertThat(stored(id).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(stored(id).lastError()).isEmpty();
    }

    @Test
    @Shows("OBX-045")
    void idsThatDoNotMatchAreIgnoredAndNotCounted() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier mine = claimed(owner);
        OutboxWorkItemIdentifier others = claimed(OwnerToken.fresh());
        OutboxWorkItemIdentifier unknown = new OutboxWorkItemIdentifier(UUID.randomUUID());

        assertThat(outbox.fail(owner, List.of(unknown, others, mine, mine), "no"))
                .isEqualTo(1);
        assertThat(outbox.fail(owner, List.of(mine), "no"))
                .as("a repeated one holds")
                .isEqualTo(1);
        assertThat(outbox.fail(OwnerToken.fresh(), List.of(mine), "no")).isZero();
        assertThat(outbox.fail(owner, List.of(), "no")).isZero();
        assertThat(stored(others).status()).isEqualTo(WorkStatus.IN_PROGRESS);
    }

    @Test
    void whatHasEndedCannotEndAgainInAnotherWay() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier done = claimed(owner);
        outbox.ack(owner, List.of(done));
        OutboxWorkItemIdentifier failed = claimed(owner);
        outbox.fail(owner, List.of(failed), "no");

        assertThat(outbox.fail(owner, List.of(done), "no")).isZero();
        assertThat(outbox.ack(owner, List.of(failed))).isZero();
        assertThat(outbox.abandon(owner, List.of(done, failed))).isZero();
        assertThat(outbox.heartbeat(owner, List.of(failed), LEASE)).isZero();
        assertThat(outbox.heartbeat(owner, List.of(done), LEASE))
                .as("its owner has ended it, and has lost nothing")
                .isEqualTo(1);
        assertThat(stored(done).status()).isEqualTo(WorkStatus.DONE);
        assertThat(stored(failed).status()).isEqualTo(WorkStatus.FAILED);
    }
}
