package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Failed messages deleted. */
@OnEveryEngine
final class PurgeConformance extends OutboxConformance {
    private static final int MANY = 1200;

    private OutboxOperator anna;

    @BeforeEach
    void signIn() {
        anna = outbox.operator("anna");
    }

    private long history() {
        return database().value(Long.class, "select count(*) from %s.outbox_failure");
    }

    @Test
    void aPurgedMessageIsGoneWithItsHistory() {
        OutboxMessageIdentifier purged = failed("topic", "broken");
        OutboxMessageIdentifier kept = failed("topic", "broken");

        assertThat(anna.purge(List.of(purged))).isEqualTo(1);

        assertThat(outbox.find(purged)).isEmpty();
        assertThat(outbox.failures(purged)).isEmpty();
        assertThat(outbox.find(kept)).isPresent();
        assertThat(outbox.failures(kept)).hasSize(1);
    }

    @Test
    void erasedMessagesCanBePurged() {
        OutboxMessageIdentifier erased = failed("topic", "broken");
        anna.erase(List.of(erased));

        assertThat(anna.purge(List.of(erased))).isEqualTo(1);
    }

    @Test
    void whatIsUnknownOrHasNotFailedIsIgnored() {
        OutboxMessageIdentifier failed = failed("topic", "broken");
        OutboxMessageIdentifier cancelled = enqueue("topic");
        outbox.cancel(cancelled);
        OwnerToken owner = OwnerToken.fresh();
        OutboxMessageIdentifier done = stored(claimed(owner)).messageId();
        outbox.ack(owner, List.of(workItem(done)));
        OutboxMessageIdentifier held = stored(claimed(owner)).messageId();
        OutboxMessageIdentifier ready = enqueue("topic");
        OutboxMessageIdentifier unknown = new OutboxMessageIdentifier(UUID.randomUUID());

        assertThat(anna.purge(List.of(unknown, cancelled, done, held, ready, failed, failed)))
                .isEqualTo(1);
        assertThat(count("1 = 1")).isEqualTo(4);
        assertThat(anna.purge(MessageFilter.failed())).isZero();
        assertThat(count("1 = 1")).isEqualTo(4);
    }

    @Test
    void aFilterChoosesWhatIsPurged() {
        failed("a", "Connection refused");
        OutboxMessageIdentifier other = failed("b", "Connection refused");
        OutboxMessageIdentifier broken = failed("a", "broken");

        assertThat(anna.purge(MessageFilter.failed().withTopic("a").withError("REFUSED")))
                .isEqualTo(1);
        assertThat(anna.list(MessageFilter.failed(), 10))
                .extracting(ListedMessage::id)
                .containsExactly(broken, other);
    }

    @Test
    void manyArePurgedInBatchesAndRecordedOnce() {
        List<OutboxMessageIdentifier> ids = failed("a", MANY);
        failed("b", MANY);

        assertThat(anna.purge(ids)).isEqualTo(MANY);
        assertThat(outbox.operator("bert").purge(MessageFilter.failed())).isEqualTo(MANY);

        assertThat(count("1 = 1")).isZero();
        assertThat(history()).isZero();
        List<OperatorAction> actions = anna.actions(10);
        assertThat(actions).extracting(OperatorAction::by).containsExactly("bert", "anna");
        assertThat(actions).extracting(OperatorAction::verb).containsOnly("purge");
        assertThat(actions).extracting(OperatorAction::messages).containsOnly(MANY);
    }

    @Test
    void operatorsAtOncePurgeEachMessageOnce() throws Exception {
        List<OutboxMessageIdentifier> ids = failed("topic", MANY);
        AtomicInteger racer = new AtomicInteger();

        List<Integer> counts = RaceConformance.race(
                () -> racer.incrementAndGet() % 2 == 0 ? anna.purge(MessageFilter.failed()) : anna.purge(ids));

        assertThat(counts.stream().mapToInt(i -> i).sum()).isEqualTo(MANY);
        assertThat(count("1 = 1")).isZero();
        assertThat(history()).isZero();
    }

    @Test
    void aMessageIsEitherPurgedOrRequeued() throws Exception {
        List<OutboxMessageIdentifier> ids = failed("topic", MANY);
        AtomicInteger racer = new AtomicInteger();
        AtomicInteger requeued = new AtomicInteger();
        AtomicInteger purged = new AtomicInteger();

        RaceConformance.race(() -> switch (racer.incrementAndGet() % 4) {
            case 0 -> purged.addAndGet(anna.purge(ids));
            case 1 -> requeued.addAndGet(anna.requeue(ids, Attempts.KEEP));
            case 2 -> purged.addAndGet(anna.purge(MessageFilter.failed()));
            default -> requeued.addAndGet(anna.requeue(MessageFilter.failed(), Attempts.KEEP));
        });

        assertThat(requeued.get() + purged.get()).isEqualTo(MANY);
        assertThat(count("status = 0")).isEqualTo(requeued.get());
        assertThat(history()).isEqualTo(requeued.get());
    }

    @Test
    void aPurgeLeavesTheCountOfAJoinAsItIs() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier id = claimed(owner);
        UUID join = join(List.of(id));
        outbox.fail(owner, List.of(id), "broken");

        anna.purge(MessageFilter.failed());

        assertThat(steps("failed_steps", join)).isEqualTo(1);
    }
}
