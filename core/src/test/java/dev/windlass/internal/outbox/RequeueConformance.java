package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Failed messages made ready again. */
@OnEveryEngine
final class RequeueConformance extends OutboxConformance {
    /** More than two of the batches in which a filter works. */
    private static final int MANY = 1200;

    private OutboxOperator anna;

    @BeforeEach
    void signIn() {
        anna = outbox.operator("anna");
    }

    private static OutboxMessageIdentifier unknown() {
        return new OutboxMessageIdentifier(UUID.randomUUID());
    }

    /** Fails twice, the second time for good. */
    private OutboxMessageIdentifier failedTwice() {
        OutboxMessageIdentifier id = enqueue("topic");
        OwnerToken owner = OwnerToken.fresh();
        outbox.abandon(owner, claim(owner, 10), Duration.ZERO, "once");
        outbox.fail(owner, claim(owner, 10), "twice");
        return id;
    }

    @Test
    void aRequeuedMessageIsReadyAtOnceAndRemembersHowOften() {
        OutboxMessageIdentifier id = failed("topic", "broken");

        assertThat(anna.requeue(List.of(id), Attempts.RESET)).isEqualTo(1);

        OutboxMessage message = stored(workItem(id));
        assertThat(message.status()).isEqualTo(WorkStatus.READY);
        assertThat(message.requeues()).isEqualTo(1);
        assertThat(message.endedAt()).isEmpty();
        assertThat(message.processedBy()).isEmpty();
        assertThat(outbox.claim(OwnerToken.fresh(), LEASE, 10))
                .extracting(OutboxMessage::requeues)
                .containsExactly(1);
    }

    @Test
    void attemptsAreForgottenOrKeptAsAskedAndExpiredLeasesAreForgotten() {
        OutboxMessageIdentifier reset = failedTwice();
        OutboxMessageIdentifier kept = failedTwice();
        database().update("update %s.outbox set lease_expiries = 4");

        anna.requeue(List.of(reset), Attempts.RESET);
        anna.requeue(List.of(kept), Attempts.KEEP);

        assertThat(stored(workItem(reset)).retryCount()).isZero();
        assertThat(stored(workItem(kept)).retryCount()).isEqualTo(1);
        assertThat(List.of(stored(workItem(reset)), stored(workItem(kept))))
                .extracting(OutboxMessage::leaseExpiries)
                .containsOnly(0);
    }

    @Test
    void withKeptAttemptsAHandlerGetsOneMoreAndWithResetAllOfThem() {
        Queue<Integer> attempts = new ConcurrentLinkedQueue<>();
        OutboxMessageIdentifier id = enqueue("topic");
        failing(attempts, 3);
        eventually().until(() -> count("status = 3") == 1);
        assertThat(attempts).containsExactly(0, 1, 2);

        anna.requeue(List.of(id), Attempts.KEEP);
        eventually().until(() -> count("status = 3 and requeues = 1") == 1);
        assertThat(attempts).containsExactly(0, 1, 2, 2);

        anna.requeue(MessageFilter.failed(), Attempts.RESET);
        eventually().until(() -> count("status = 3 and requeues = 2") == 1);
        assertThat(attempts).containsExactly(0, 1, 2, 2, 0, 1, 2);
    }

    /** As when a worker of another kind abandoned it more often, or the number of attempts was lowered. */
    @Test
    void withKeptAttemptsAHandlerGetsOneMoreHoweverManyThereWere() {
        Queue<Integer> attempts = new ConcurrentLinkedQueue<>();
        OutboxMessageIdentifier id = enqueue("topic");
        database().update("update %s.outbox set retry_count = 7");
        failing(attempts, 3);
        eventually().until(() -> count("status = 3") == 1);
        assertThat(attempts).isEmpty();

        anna.requeue(List.of(id), Attempts.KEEP);
        eventually().until(() -> count("status = 3 and requeues = 1") == 1);

        assertThat(attempts).containsExactly(7);
    }

    private void failing(Queue<Integer> attempts, int max) {
        OutboxHandler.Simple broken = message -> {
            attempts.add(message.retryCount());
            throw new IllegalStateException("broken");
        };
        HandlerOptions options = HandlerOptions.defaults()
                .withRetry(new RetryPolicy(max, Duration.ofMillis(1), Duration.ofMillis(1), 0));
        Windlass node = database().start(database().windlass().outboxHandler("topic", options, broken));
        assertThat(node.isRunning()).isTrue();
    }

    @Test
    void anExpiryThatHasPassedIsDroppedAndAnotherStays() throws SQLException {
        Instant later = Instant.parse("2125-01-01T00:00:00Z");
        OutboxMessageIdentifier young =
                outbox.enqueue(OutboxEntry.of("topic", "").withExpiresAt(later));
        fail("broken");
        OutboxMessageIdentifier expired =
                outbox.enqueue(OutboxEntry.of("topic", "").withExpiresAt(Instant.EPOCH));
        try (Connection connection = database().connect()) {
            store(LEASE).expire(connection, 10);
        }

        assertThat(anna.requeue(List.of(expired, young), Attempts.RESET)).isEqualTo(2);

        assertThat(stored(workItem(expired)).expiresAt()).isEmpty();
        assertThat(stored(workItem(young)).expiresAt()).contains(later);
        assertThat(claim(OwnerToken.fresh(), 10)).hasSize(2);
    }

    @Test
    void erasedMessagesAreLeftOut() {
        OutboxMessageIdentifier erased = failed("topic", "broken");
        OutboxMessageIdentifier whole = failed("topic", "broken");
        anna.erase(List.of(erased));

        assertThat(anna.requeue(List.of(erased), Attempts.RESET)).isZero();
        assertThat(anna.requeue(MessageFilter.failed(), Attempts.RESET)).isEqualTo(1);

        assertThat(stored(workItem(erased)).status()).isEqualTo(WorkStatus.FAILED);
        assertThat(stored(workItem(whole)).status()).isEqualTo(WorkStatus.READY);
    }

    @Test
    void whatIsUnknownOrHasNotFailedIsIgnored() {
        OutboxMessageIdentifier failed = failed("topic", "broken");
        OutboxMessageIdentifier cancelled = enqueue("topic");
        outbox.cancel(cancelled);
        OwnerToken owner = OwnerToken.fresh();
        enqueue("topic");
        OutboxWorkItemIdentifier done = claim(owner, 10).get(0);
        outbox.ack(owner, List.of(done));
        enqueue("topic");
        OutboxWorkItemIdentifier held = claim(owner, 10).get(0);
        OutboxMessageIdentifier ready = enqueue("topic");

        assertThat(anna.requeue(
                        List.of(
                                unknown(),
                                cancelled,
                                stored(done).messageId(),
                                stored(held).messageId(),
                                ready,
                                failed,
                                failed),
                        Attempts.RESET))
                .isEqualTo(1);
        assertThat(anna.requeue(List.of(failed), Attempts.RESET)).isZero();
        assertThat(stored(held).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(stored(done).status()).isEqualTo(WorkStatus.DONE);
        assertThat(stored(workItem(cancelled)).status()).isEqualTo(WorkStatus.CANCELLED);
    }

    @Test
    void aFilterChoosesWhatIsRequeued() {
        OutboxMessageIdentifier fits = failed("a", "Connection refused");
        failed("b", "Connection refused");
        failed("a", "broken");

        assertThat(anna.requeue(MessageFilter.failed().withTopic("a").withError("REFUSED"), Attempts.RESET))
                .isEqualTo(1);
        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(workItem(fits));
    }

    @Test
    void manyAreRequeuedInBatchesAndRecordedOnce() {
        List<OutboxMessageIdentifier> ids = failed("a", MANY);
        Instant before = database().now();

        assertThat(anna.requeue(ids, Attempts.RESET)).isEqualTo(MANY);
        fail("again");
        assertThat(outbox.operator("bert").requeue(MessageFilter.failed().withTopic("a"), Attempts.KEEP))
                .isEqualTo(MANY);

        List<OperatorAction> actions = anna.actions(10);
        assertThat(actions).extracting(OperatorAction::by).containsExactly("bert", "anna");
        assertThat(actions).extracting(OperatorAction::verb).containsOnly("requeue");
        assertThat(actions).extracting(OperatorAction::messages).containsOnly(MANY);
        assertThat(actions)
                .allSatisfy(action ->
                        assertThat(action.at()).isBetween(before, database().now()));
        assertThat(actions.get(0).detail()).contains("\"topic\": \"a\"", "\"reset\": false");
        assertThat(actions.get(1).detail())
                .contains(ids.get(0).value().toString(), ids.get(99).value().toString())
                .doesNotContain(ids.get(100).value().toString());
    }

    @Test
    void whatFailsAgainAtOnceIsNotRequeuedForEver() {
        failed("topic", MANY);
        AtomicInteger calls = new AtomicInteger();
        OutboxHandler.Simple broken = message -> {
            calls.incrementAndGet();
            throw new IllegalStateException("broken");
        };
        HandlerOptions once =
                HandlerOptions.defaults().withRetry(RetryPolicy.defaults().withMaxAttempts(1));
        database().start(database().windlass().outboxHandler("topic", once, broken));

        assertThat(anna.requeue(MessageFilter.failed(), Attempts.RESET)).isEqualTo(MANY);

        eventually().until(() -> count("status = 3 and requeues = 1") == MANY);
        assertThat(calls).hasValue(MANY);
    }

    @Test
    void twoOperatorsAtOnceRequeueEachMessageOnce() throws Exception {
        List<OutboxMessageIdentifier> ids = failed("topic", MANY);
        AtomicInteger racer = new AtomicInteger();

        List<Integer> counts = RaceConformance.race(() -> racer.incrementAndGet() % 2 == 0
                ? anna.requeue(MessageFilter.failed(), Attempts.RESET)
                : outbox.operator("bert").requeue(ids, Attempts.RESET));

        assertThat(counts.stream().mapToInt(i -> i).sum()).isEqualTo(MANY);
        assertThat(count("status = 0 and requeues = 1")).isEqualTo(MANY);
        assertThat(database().value(Long.class, "select sum(messages) from %s.windlass_action"))
                .isEqualTo(MANY);
    }

    /** Without the retries of the public API, which would hide a deadlock. */
    @Test
    void whoeverWantsTheSameMessagesWaitsAndNeverDeadlocks() throws Exception {
        for (int round = 0; round < 5; round++) {
            List<UUID> ids = failed("topic", MANY).stream()
                    .map(OutboxMessageIdentifier::value)
                    .toList();
            AtomicInteger racer = new AtomicInteger();

            List<Integer> counts = RaceConformance.race(() -> requeued(racer.incrementAndGet() % 2 == 0 ? ids : null));

            assertThat(counts.stream().mapToInt(i -> i).sum()).isEqualTo(MANY);
            fail("broken");
            anna.purge(MessageFilter.failed());
        }
    }

    private int requeued(@Nullable List<UUID> ids) throws SQLException {
        return database()
                .routines()
                .once(connection -> database()
                        .routines()
                        .call(connection, "outbox_requeue")
                        .text("anna")
                        .uuids(ids)
                        .text(null)
                        .text(null)
                        .instant(null)
                        .instant(null)
                        .text(null)
                        .integer(100)
                        .number(null)
                        .bool(ids == null)
                        .list(row -> row.getInt("messages"))
                        .get(0));
    }

    @Test
    void aSecondFailureDoesNotCountTwiceInAJoin() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier fails = claimed(owner);
        UUID first = join(List.of(fails));
        outbox.fail(owner, List.of(fails), "broken");
        anna.requeue(MessageFilter.failed(), Attempts.RESET);
        fail("broken again");
        anna.requeue(MessageFilter.failed(), Attempts.RESET);
        outbox.ack(owner, claim(owner, 10));

        assertThat(steps("failed_steps", first)).isEqualTo(1);
        assertThat(steps("completed_steps", first)).isZero();
    }
}
