package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A message that nobody has claimed can be called off. */
@OnEveryEngine
final class CancelConformance extends OutboxConformance {
    private final OwnerToken owner = OwnerToken.fresh();

    @Test
    void aReadyDelayedOrWaitingMessageIsCancelled() {
        OutboxMessageIdentifier ready = enqueue("topic");
        OutboxMessageIdentifier delayed =
                outbox.enqueue(OutboxEntry.of("topic", "").withDelay(Duration.ofHours(1)));
        OutboxEntry ordered = OutboxEntry.of("topic", "").withOrderingKey("key");
        OutboxWorkItemIdentifier head = workItem(outbox.enqueue(ordered));
        OutboxMessageIdentifier waiting = outbox.enqueue(ordered);

        for (OutboxMessageIdentifier id : List.of(ready, delayed, waiting)) {
            assertThat(outbox.cancel(id)).isTrue();
            assertThat(stored(workItem(id)).status()).isEqualTo(WorkStatus.CANCELLED);
            assertThat(stored(workItem(id)).endedAt()).isPresent();
            assertThat(stored(workItem(id)).processedAt()).isEmpty();
        }
        assertThat(claim(owner, 10)).containsExactly(head);
        outbox.ack(owner, List.of(head));
        assertThat(claim(owner, 10)).isEmpty();
    }

    @Test
    void whatIsUnknownInProgressOrEndedStaysAsItIs() {
        OutboxMessageIdentifier failed = failed("topic", "broken");
        OutboxWorkItemIdentifier done = claimed(owner);
        outbox.ack(owner, List.of(done));
        OutboxMessageIdentifier cancelled = enqueue("topic");
        outbox.cancel(cancelled);
        OutboxWorkItemIdentifier held = claimed(owner);

        assertThat(outbox.cancel(new OutboxMessageIdentifier(UUID.randomUUID())))
                .isFalse();
        assertThat(outbox.cancel(failed)).isFalse();
        assertThat(outbox.cancel(stored(done).messageId())).isFalse();
        assertThat(outbox.cancel(cancelled)).isFalse();
        assertThat(outbox.cancel(stored(held).messageId())).isFalse();
        assertThat(outbox.ack(owner, List.of(held))).isEqualTo(1);
    }

    @Test
    void aMessageThatFailedBeforeKeepsItsLastError() {
        OutboxWorkItemIdentifier id = claimed(owner);
        outbox.abandon(owner, List.of(id), Duration.ZERO, "not now");

        outbox.cancel(stored(id).messageId());

        assertThat(stored(id).lastError()).contains("not now");
        assertThat(stored(id).retryCount()).isEqualTo(1);
    }

    @Test
    void inTheCallersTransactionItHoldsWhenThatCommits() throws SQLException {
        OutboxMessageIdentifier undone = enqueue("topic");
        try (Connection connection = transaction()) {
            assertThat(outbox.cancel(connection, undone)).isTrue();
            connection.rollback();
        }
        assertThat(claim(owner, 10)).containsExactly(workItem(undone));
        OutboxMessageIdentifier cancelled = enqueue("topic");
        try (Connection connection = transaction()) {
            assertThat(outbox.cancel(connection, cancelled)).isTrue();
            connection.commit();
        }
        assertThat(claim(owner, 10)).isEmpty();
        assertThat(stored(workItem(cancelled)).status()).isEqualTo(WorkStatus.CANCELLED);
    }

    @Test
    void whileTheCallersTransactionIsOpenNobodyClaimsTheMessageAndNobodyWaitsForIt() throws SQLException {
        OutboxMessageIdentifier id = enqueue("topic");
        OutboxMessageIdentifier other = enqueue("topic");
        try (Connection connection = transaction()) {
            outbox.cancel(connection, id);

            assertThat(claim(owner, 10)).containsExactly(workItem(other));
            connection.rollback();
        }
        assertThat(claim(owner, 10)).containsExactly(workItem(id));
    }

    @Test
    void aMessageOfTheSameTransactionIsCancelled() throws SQLException {
        try (Connection connection = transaction()) {
            OutboxMessageIdentifier id = outbox.enqueue(connection, OutboxEntry.of("topic", ""));
            assertThat(outbox.cancel(connection, id)).isTrue();
            connection.commit();
        }
        assertThat(claim(owner, 10)).isEmpty();
    }

    @Test
    void ofACancelAndAClaimAtOnceExactlyOneWins() throws Exception {
        for (int round = 0; round < 60; round++) {
            OutboxMessageIdentifier id = enqueue("topic");
            AtomicInteger racer = new AtomicInteger();
            AtomicInteger cancelled = new AtomicInteger();
            AtomicInteger claimed = new AtomicInteger();
            RaceConformance.race(() -> {
                if (racer.incrementAndGet() % 2 == 0) {
                    cancelled.addAndGet(outbox.cancel(id) ? 1 : 0);
                } else {
                    OwnerToken mine = OwnerToken.fresh();
                    claimed.addAndGet(outbox.ack(mine, claim(mine, 10)));
                }
                return true;
            });
            // A cancel that finds the row claimed lets it be; one that holds it makes the claims skip it.
            assertThat(cancelled.get() + claimed.get()).isEqualTo(1);
            assertThat(stored(workItem(id)).status())
                    .isEqualTo(cancelled.get() == 1 ? WorkStatus.CANCELLED : WorkStatus.DONE);
        }
        assertThat(count("status in (2, 5)")).isEqualTo(60);
    }

    @Test
    void itCountsAsFailedInJoinsOnce() {
        OutboxMessageIdentifier id = enqueue("topic");
        UUID join = join(List.of(workItem(id)));

        outbox.cancel(id);
        outbox.cancel(id);

        assertThat(steps("failed_steps", join)).isEqualTo(1);
        assertThat(steps("completed_steps", join)).isZero();
    }

    @Test
    void cancelledMessagesAreCleanedAfterTheRetention() throws SQLException {
        OutboxMessageIdentifier old = enqueue("topic");
        OutboxMessageIdentifier recent = enqueue("topic");
        outbox.cancel(old);
        outbox.cancel(recent);
        database().update("update %s.outbox set ended_at = '2020-01-01T00:00:00Z' where id = ?", old.value());

        try (Connection connection = database().connect()) {
            assertThat(store(Duration.ofDays(7))
                            .clean(connection, 10, Instant.MIN)
                            .deleted())
                    .isEqualTo(1);
        }
        assertThat(outbox.find(old)).isEmpty();
        assertThat(outbox.find(recent)).isPresent();
    }

    @Test
    void anAnswerThatWasLostIsFoundAgain() {
        LosingDataSource losing = new LosingDataSource(database());
        Outbox unlucky = database()
                .start(Windlass.on(losing).options(database().options().withBackgroundWorkers(false)))
                .outbox();
        OutboxMessageIdentifier id = enqueue("topic");

        losing.loseAnswers(1);

        assertThat(unlucky.cancel(id)).isTrue();
        assertThat(losing.left()).isZero();
    }

    private Connection transaction() throws SQLException {
        Connection connection = database().connect();
        connection.setAutoCommit(false);
        return connection;
    }
}
