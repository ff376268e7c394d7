package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Heartbeat. */
@OnEveryEngine
final class HeartbeatConformance extends OutboxConformance {

    @Test
    void aHeartbeatRenewsFromTheDatabasesNow() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        Instant before = database().now();

        assertThat(outbox.heartbeat(owner, List.of(id), Duration.ofHours(2))).isEqualTo(1);

        assertThat(time("locked_until", id))
                .isBetween(before.plus(Duration.ofHours(2)), database().now().plus(Duration.ofHours(2)));
    }

    @Test
    void aLeaseThatRanOutIsNotRenewedAlsoBeforeItIsReaped() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier lost = claimed(owner);
        runOutLease(List.of(lost));
        OutboxWorkItemIdentifier held = claimed(owner);

        assertThat(outbox.heartbeat(owner, List.of(lost, held), LEASE)).isEqualTo(1);

        assertThat(outbox.reapExpired()).isEqualTo(1);
        assertThat(stored(lost).status()).isEqualTo(WorkStatus.READY);
        assertThat(stored(held).status()).isEqualTo(WorkStatus.IN_PROGRESS);
    }

    @Test
    void nobodyElseCanRenew() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        Instant until = time("locked_until", id);

        assertThat(outbox.heartbeat(OwnerToken.fresh(), List.of(id), Duration.ofDays(1)))
                .isZero();
        assertThat(time("locked_until", id)).isEqualTo(until);
    }

    @Test
    void idsThatDoNotMatchAreIgnoredAndDuplicatesCountOnce() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        OutboxWorkItemIdentifier unknown = new OutboxWorkItemIdentifier(UUID.randomUUID());

        assertThat(outbox.heartbeat(owner, List.of(unknown, id, id), LEASE)).isEqualTo(1);
        assertThat(outbox.heartbeat(owner, List.of(), LEASE)).isZero();
    }
}
