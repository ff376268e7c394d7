package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Reap. */
@OnEveryEngine
final class ReapConformance extends OutboxConformance {

    @Test
    @Shows({"OBX-049", "OBX-050", "OBX-051"})
    void whatItsOwnerLostIsReadyAgain() {
        OutboxWorkItemIdentifier held = claimed(OwnerToken.fresh());
        OutboxWorkItemIdentifier lost = claimed(OwnerToken.fresh());
        runOutLease(List.of(lost));

        assertThat(outbox.reapExpired()).isEqualTo(1);

        assertThat(stored(lost).status()).isEqualTo(WorkStatus.READY);
        assertThat(count("owner_token is null and locked_until is null")).isEqualTo(1);
        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(lost);
        assertThat(stored(held).status()).isEqualTo(WorkStatus.IN_PROGRESS);
    }

    @Test
    void anExpiryIsCountedApartFromRetries() {
        OutboxWorkItemIdentifier id = claimed(OwnerToken.fresh());
        runOutLease(List.of(id));
        outbox.reapExpired();

        assertThat(stored(id).leaseExpiries()).isEqualTo(1);
        assertThat(stored(id).retryCount()).isZero();
    }

    @Test
    void aReapedMessageIsStampedAnewSoThatNoBoundPassesItBy() {
        OutboxWorkItemIdentifier id = claimed(OwnerToken.fresh());
        runOutLease(List.of(id));
        Instant before = database().now();
        outbox.reapExpired();

        assertThat(time("next_attempt_at", id)).isBetween(before, database().now());
    }

    @Test
    @Shows("OBX-052")
    void whatHasEndedIsNotTouched() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier done = claimed(owner);
        outbox.ack(owner, List.of(done));
        OutboxWorkItemIdentifier failed = claimed(owner);
        outbox.fail(owner, List.of(failed), "no");
        OutboxMessage doneBefore = stored(done);
        OutboxMessage failedBefore = stored(failed);

        assertThat(outbox.reapExpired()).isZero();

        assertThat(stored(done)).isEqualTo(doneBefore);
        assertThat(stored(failed)).isEqualTo(failedBefore);
    }

    @Test
    @Shows("OBX-049")
    void allIsReapedHoweverMuchItIs() {
        enqueue("topic", 1201);
        claim(OwnerToken.fresh(), 2000);
        database().update("update %s.outbox set locked_until = created_at");

        assertThat(outbox.reapExpired()).isEqualTo(1201);
        assertThat(count("status = 0 and lease_expiries = 1")).isEqualTo(1201);
    }

    @Test
    void nothingIsReapedInTheFirstLeasePeriodAfterTheServerStarted() {
        Outbox patient = outbox(OutboxOptions.defaults().withLease(Duration.ofDays(10_000)));
        runOutLease(List.of(claimed(OwnerToken.fresh())));

        assertThat(patient.reapExpired()).isZero();
        assertThat(count("status = 1")).isEqualTo(1);
    }

    @Test
    @Shows("OBX-053")
    void aNodeReapsByItself() {
        AtomicInteger handled = new AtomicInteger();
        OutboxWorkItemIdentifier id = claimed(OwnerToken.fresh());
        runOutLease(List.of(id));

        database()
                .start(database()
                        .windlass()
                        .outbox(OutboxOptions.defaults().withLease(Duration.ofMillis(500)))
                        .outboxHandler("topic", message -> handled.incrementAndGet()));

        await().until(() -> stored(id).isProcessed());
        assertThat(handled).hasValue(1);
        assertThat(stored(id).leaseExpiries()).isEqualTo(1);
    }
}
