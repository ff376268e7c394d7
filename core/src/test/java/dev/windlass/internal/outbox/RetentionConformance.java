package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What time does to messages: expire and clean. */
@OnEveryEngine
final class RetentionConformance extends OutboxConformance {

    @Test
    void aReadyMessageFailsWhenItsExpiryHasPassed() throws SQLException {
        OutboxWorkItemIdentifier old = expiring(-1);
        OutboxWorkItemIdentifier young = expiring(3600);
        OutboxWorkItemIdentifier ageless = workItem(enqueue("topic"));

        assertThat(expire(10)).isEqualTo(1);

        assertThat(stored(old).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(stored(old).lastError()).contains("expired before it was handled");
        assertThat(stored(young).status()).isEqualTo(WorkStatus.READY);
        assertThat(stored(ageless).status()).isEqualTo(WorkStatus.READY);
    }

    @Test
    void aMessageThatExpiresWhileItIsHandledIsTheHandlers() throws SQLException {
        OutboxWorkItemIdentifier id = expiring(3600);
        OwnerToken owner = OwnerToken.fresh();
        claim(owner, 1);
        database().update("update %s.outbox set expires_at = created_at where id = ?", id.value());

        assertThat(expire(10)).isZero();
        assertThat(outbox.ack(owner, List.of(id))).isEqualTo(1);
    }

    @Test
    void aMessageWhoseExpiryHasPassedIsNeverHandedOut() {
        OutboxWorkItemIdentifier old = expiring(-1);
        OutboxWorkItemIdentifier young = expiring(3600);
        OwnerToken owner = OwnerToken.fresh();

        assertThat(claim(owner, 10)).containsExactly(young);
        assertThat(stored(old).status()).isEqualTo(WorkStatus.READY);
        outbox.abandon(owner, List.of(young), Duration.ZERO, "not now");
        database().update("update %s.outbox set expires_at = created_at where id = ?", young.value());
        assertThat(claim(owner, 10)).isEmpty();
    }

    @Test
    void ofExpiryAndClaimsAtOnceOneTakesEachMessage() throws Exception {
        Instant soon = database().now().plusMillis(300);
        outbox.enqueueAll(Collections.nCopies(
                400, OutboxEntry.of("topic", "").withExpiresAt(soon).withDueTime(soon.minusMillis(100))));
        AtomicInteger claimed = new AtomicInteger();
        AtomicInteger expired = new AtomicInteger();

        RaceConformance.race(() -> {
            while (count("status = 0") > 0) {
                claimed.addAndGet(claim(OwnerToken.fresh(), 3).size());
                expired.addAndGet(expire(7));
            }
            return true;
        });

        assertThat(claimed.get() + expired.get()).isEqualTo(400);
        assertThat(count("status = 1")).isEqualTo(claimed.get());
        assertThat(count("status = 3")).isEqualTo(expired.get());
    }

    @Test
    void expiryGoesInBatches() throws SQLException {
        for (int i = 0; i < 5; i++) {
            expiring(-1);
        }

        assertThat(expire(3)).isEqualTo(3);
        assertThat(expire(3)).isEqualTo(2);
        assertThat(expire(3)).isZero();
    }

    @Test
    void whatWasDoneLongAgoIsDeletedAndNothingElse() throws SQLException {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier old = claimed(owner);
        outbox.ack(owner, List.of(old));
        endLongAgo(old);
        OutboxWorkItemIdentifier recent = claimed(owner);
        outbox.ack(owner, List.of(recent));
        OutboxWorkItemIdentifier failed = claimed(owner);
        outbox.fail(owner, List.of(failed), "no");
        endLongAgo(failed);
        OutboxWorkItemIdentifier held = claimed(owner);
        OutboxWorkItemIdentifier ready = workItem(enqueue("topic"));

        assertThat(clean(10)).isEqualTo(1);

        assertThat(outbox.find(new OutboxMessageIdentifier(old.value()))).isEmpty();
        assertThat(List.of(stored(recent), stored(failed), stored(held), stored(ready)))
                .extracting(OutboxMessage::status)
                .containsExactly(WorkStatus.DONE, WorkStatus.FAILED, WorkStatus.IN_PROGRESS, WorkStatus.READY);
    }

    @Test
    void cleaningGoesInBatches() throws SQLException {
        OwnerToken owner = OwnerToken.fresh();
        enqueue("topic", 5);
        List<OutboxWorkItemIdentifier> ids = claim(owner, 10);
        outbox.ack(owner, ids);
        ids.forEach(this::endLongAgo);

        assertThat(clean(3)).isEqualTo(3);
        assertThat(clean(3)).isEqualTo(2);
        assertThat(clean(3)).isZero();
    }

    private OutboxWorkItemIdentifier expiring(int seconds) {
        return workItem(outbox.enqueue(
                OutboxEntry.of("topic", "").withExpiresAt(database().now().plusSeconds(seconds))));
    }

    private void endLongAgo(OutboxWorkItemIdentifier id) {
        database().update("update %s.outbox set ended_at = '2020-01-01T00:00:00Z' where id = ?", id.value());
    }

    private int expire(int limit) throws SQLException {
        try (Connection connection = database().connect()) {
            return store(Duration.ofDays(7)).expire(connection, limit);
        }
    }

    private int clean(int limit) throws SQLException {
        try (Connection connection = database().connect()) {
            return store(Duration.ofDays(7))
                    .clean(connection, limit, Instant.MIN)
                    .deleted();
        }
    }
}
