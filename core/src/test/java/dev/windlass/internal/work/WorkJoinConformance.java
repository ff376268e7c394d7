package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import dev.windlass.work.WorkIdentifier;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Items of the work queue as steps of joins. */
@OnEveryEngine
class WorkJoinConformance extends WorkConformance {

    private JoinIdentifier join(int steps) {
        return windlass.joins()
                .start(JoinEntry.of(steps)
                        .withFollowUp(FollowUp.completed("well", "").withFailed("badly", "")));
    }

    private Join read(JoinIdentifier join) {
        return windlass.joins().find(join).orElseThrow();
    }

    private void ackAll() {
        OwnerToken owner = OwnerToken.fresh();
        work.ack(owner, ids(claim(owner, 100)));
    }

    @Test
    void itemsAndMessagesOfBothBoxesAreStepsOfOneJoin() {
        JoinIdentifier join = join(3);
        work.enqueue(item("one").withJoin(join));
        windlass.outbox().enqueue(OutboxEntry.of("two", "").withJoin(join));
        windlass.inbox().enqueue(InboxEntry.of("source", "3", "three", ""));
        windlass.inbox().attach(join, "source", "3");

        ackAll();
        assertThat(read(join).completedSteps()).isEqualTo(1);
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> messages = windlass.outbox().claim(owner, LEASE, 10).stream()
                .map(OutboxMessage::id)
                .toList();
        windlass.outbox().ack(owner, messages);
        windlass.inbox()
                .claim(owner, LEASE, 10)
                .forEach(message -> windlass.inbox().ack(owner, List.of(message.id())));

        assertThat(read(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(windlass.outbox().claim(OwnerToken.fresh(), LEASE, 10))
                .extracting(OutboxMessage::topic)
                .containsExactly("well");
    }

    @Test
    void anItemThatFailsOrIsCancelledCountsAsFailedAlsoWhileItRuns() {
        JoinIdentifier join = join(3);
        WorkIdentifier fails = work.enqueue(item("fails").withJoin(join));
        WorkIdentifier stops = work.enqueue(item("stops").withJoin(join));
        WorkIdentifier waits =
                work.enqueue(item("waits").withDelay(Duration.ofHours(1)).withJoin(join));
        OwnerToken owner = OwnerToken.fresh();
        claim(owner, 10);

        work.fail(owner, List.of(fails), "no");
        work.cancel(waits);
        work.cancel(stops);
        assertThat(read(join).failedSteps()).isEqualTo(2);
        work.release(owner, List.of(stops));

        assertThat(read(join)).satisfies(ended -> {
            assertThat(ended.failedSteps()).isEqualTo(3);
            assertThat(ended.status()).isEqualTo(JoinStatus.FAILED);
        });
    }

    @Test
    void anItemIsAttachedLaterAndCountsAlsoIfItHasEndedAndIsGone() {
        use(OPTIONS.withRetention(Duration.ZERO));
        JoinIdentifier join = join(2);
        WorkIdentifier early = work.enqueue(item("early"));
        ackAll();
        WorkIdentifier late = work.enqueue(item("late"));

        assertThat(work.attach(join, List.of(early, late))).isEqualTo(2);
        assertThat(read(join).completedSteps()).isEqualTo(1);
        ackAll();
        assertThat(read(join).status()).isEqualTo(JoinStatus.COMPLETED);
    }

    @Test
    void anItemThatKeepsAnotherMakesTheOtherOneTheStep() {
        WorkIdentifier first = work.enqueue(item("first").ifAbsent("key"));
        JoinIdentifier join = join(1);

        assertThat(work.enqueue(item("second").ifAbsent("key").withJoin(join))).isEqualTo(first);
        ackAll();

        assertThat(read(join).status()).isEqualTo(JoinStatus.COMPLETED);
    }

    @Test
    void anItemThatIsReplacedCountsAsFailed() {
        JoinIdentifier join = join(1);
        work.enqueue(item("first").replacing("key").withJoin(join));
        work.enqueue(item("second").replacing("key"));

        assertThat(read(join).status()).isEqualTo(JoinStatus.FAILED);
    }
}
