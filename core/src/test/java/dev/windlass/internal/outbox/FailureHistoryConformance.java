package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every attempt that failed is remembered for as long as its message. */
@OnEveryEngine
final class FailureHistoryConformance extends OutboxConformance {
    private final OwnerToken owner = OwnerToken.fresh();

    private long rows() {
        return database().value(Long.class, "select count(*) from %s.outbox_failure");
    }

    private OutboxMessageIdentifier abandoned(int times) {
        OutboxMessageIdentifier id = enqueue("topic");
        for (int i = 1; i <= times; i++) {
            outbox.abandon(owner, claim(owner, 10), Duration.ZERO, "failure " + i);
        }
        return id;
    }

    @Test
    void everyFailedAttemptIsKeptTheOldestFirst() {
        Instant before = database().now();
        OutboxMessageIdentifier id = abandoned(2);
        fail("failure 3");

        List<FailedAttempt> failures = outbox.failures(id);

        assertThat(failures).extracting(FailedAttempt::attempt).containsExactly(1, 2, 3);
        assertThat(failures)
                .extracting(FailedAttempt::error)
                .containsExactly(Optional.of("failure 1"), Optional.of("failure 2"), Optional.of("failure 3"));
        assertThat(failures).extracting(FailedAttempt::node).containsOnly(Optional.of("node-1"));
        assertThat(failures).extracting(FailedAttempt::at).isSorted();
        assertThat(failures.get(0).at()).isAfter(before);
        assertThat(failures.get(2).at())
                .isEqualTo(stored(workItem(id)).endedAt().orElseThrow());
    }

    @Test
    void errorsAreBoundedAndMayBeMissing() throws SQLException {
        OutboxMessageIdentifier id = enqueue("topic");
        outbox.abandon(owner, claim(owner, 10), Duration.ZERO, "x".repeat(5000));
        OutboxWorkItemIdentifier held = claim(owner, 10).get(0);
        outbox.abandon(owner, List.of(held));

        assertThat(outbox.failures(id).get(0).error().orElseThrow())
                .hasSizeLessThanOrEqualTo(2048)
                .startsWith("xxx");
        assertThat(outbox.failures(id).get(1).error()).isEmpty();
    }

    @Test
    void anExpiredLeaseIsAFailureOfAnUnknownNode() {
        OutboxWorkItemIdentifier id = claimed(owner);
        runOutLease(List.of(id));
        outbox.reapExpired();

        List<FailedAttempt> failures = outbox.failures(stored(id).messageId());
        assertThat(failures).hasSize(1);
        assertThat(failures.get(0).attempt()).isEqualTo(1);
        assertThat(failures.get(0).node()).isEmpty();
        assertThat(failures.get(0).error()).contains("its lease ran out");
    }

    @Test
    void successReleaseAndCancellationWriteNothing() {
        enqueue("topic", 10);
        outbox.release(owner, claim(owner, 10));
        outbox.ack(owner, claim(owner, 10));
        outbox.cancel(enqueue("topic"));

        assertThat(rows()).isZero();
    }

    @Test
    void whatIsNotTheOwnersWritesNothing() {
        OutboxWorkItemIdentifier id = claimed(owner);
        outbox.abandon(OwnerToken.fresh(), List.of(id), Duration.ZERO, "not mine");
        outbox.fail(OwnerToken.fresh(), List.of(id), "not mine");

        assertThat(rows()).isZero();
    }

    @Test
    void anAckThatDeletesTakesTheHistoryAlong() {
        Outbox deleting = outbox(OPTIONS.withRetention(Duration.ZERO));
        OutboxMessageIdentifier kept = abandoned(1);
        OwnerToken other = OwnerToken.fresh();
        claim(other, 10);
        abandoned(2);
        OutboxWorkItemIdentifier reaped = claim(owner, 10).get(0);
        runOutLease(List.of(reaped));
        outbox.reapExpired();

        deleting.ack(owner, claim(owner, 10));

        assertThat(rows()).isEqualTo(1);
        assertThat(outbox.failures(kept)).hasSize(1);
    }

    @Test
    void anAckThatDeletesTakesAlongWhatWasReapedOrRequeued() throws SQLException {
        Outbox deleting = outbox(OPTIONS.withRetention(Duration.ZERO));
        OutboxWorkItemIdentifier reaped = claimed(owner);
        runOutLease(List.of(reaped));
        outbox.reapExpired();
        deleting.ack(owner, claim(owner, 10));
        assertThat(rows()).isZero();

        failed("topic", "broken");
        outbox.operator("anna").requeue(MessageFilter.failed(), Attempts.RESET);
        deleting.ack(owner, claim(owner, 10));
        assertThat(rows()).isZero();
    }

    @Test
    void anAttemptThatIsNotCountedLeavesItsErrorAndNoHistory() throws SQLException {
        OutboxWorkItemIdentifier id = claimed(owner);

        abandonUncounted(id, "put off");

        assertThat(rows()).isZero();
        assertThat(stored(id).lastError()).contains("put off");
        assertThat(stored(id).retryCount()).isZero();
    }

    /** Through the routine: the API counts every attempt. */
    private void abandonUncounted(OutboxWorkItemIdentifier id, @Nullable String error) throws SQLException {
        Held held = new Held(id.value(), owner.value(), false);
        try (Connection connection = database().connect()) {
            database()
                    .routines()
                    .call(connection, "outbox_abandon")
                    .uuids(List.of(held.id()))
                    .uuids(List.of(held.owner()))
                    .durations(List.of(Duration.ZERO))
                    .texts(Collections.singletonList(error))
                    .text("node-1")
                    .bools(List.of(false))
                    .list(row -> row.getInt("changed"));
        }
    }

    @Test
    void cleaningTakesTheHistoryAlong() throws SQLException {
        abandoned(1);
        outbox.ack(owner, claim(owner, 10));
        OutboxMessageIdentifier cancelled = abandoned(1);
        outbox.cancel(cancelled);
        abandonUncounted(claimed(owner), "put off");
        outbox.ack(owner, claim(owner, 10));
        database().update("update %s.outbox set ended_at = '2020-01-01T00:00:00Z'");
        OutboxMessageIdentifier recent = abandoned(1);
        outbox.ack(owner, claim(owner, 10));

        try (Connection connection = database().connect()) {
            assertThat(store(Duration.ofDays(7))
                            .clean(connection, 10, Instant.MIN)
                            .deleted())
                    .isEqualTo(3);
        }

        assertThat(rows()).isEqualTo(1);
        assertThat(outbox.failures(recent)).hasSize(1);
    }

    @Test
    void aRequeueKeepsTheHistoryAndCountsAttemptsAsItWasAsked() {
        OutboxMessageIdentifier id = abandoned(1);
        fail("failure 2");
        OutboxOperator anna = outbox.operator("anna");
        anna.requeue(List.of(id), Attempts.KEEP);
        fail("failure 3");
        anna.requeue(List.of(id), Attempts.RESET);
        fail("failure 4");

        assertThat(outbox.failures(id)).extracting(FailedAttempt::attempt).containsExactly(1, 2, 2, 1);
        assertThat(outbox.failures(id))
                .extracting(failure -> failure.error().orElseThrow())
                .containsExactly("failure 1", "failure 2", "failure 3", "failure 4");
    }

    @Test
    void aMessageThatIsUnknownHasNoFailures() {
        assertThat(outbox.failures(new OutboxMessageIdentifier(UUID.randomUUID())))
                .isEmpty();
    }
}
