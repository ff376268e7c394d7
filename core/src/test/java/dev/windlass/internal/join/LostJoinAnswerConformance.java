package dev.windlass.internal.join;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.outbox.LosingDataSource;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinFilter;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls that are repeated because the answer to the first, which was committed, was lost. */
@OnEveryEngine
final class LostJoinAnswerConformance extends JoinsConformance {
    private LosingDataSource losing;

    @BeforeEach
    void loseAnswers() {
        losing = new LosingDataSource(database());
        Windlass windlass = database()
                .start(Windlass.on(losing).options(database().options().withBackgroundWorkers(false)));
        outbox = windlass.outbox();
        joins = windlass.joins();
    }

    private void lose(Runnable call) {
        losing.loseAnswers(1);
        call.run();
        assertThat(losing.left()).as("an answer was lost").isZero();
    }

    @Test
    void aJoinIsStartedOnce() {
        lose(() -> started(2));

        assertThat(joins.list(JoinFilter.all(), 10)).hasSize(1);
    }

    @Test
    void aFanOutIsWrittenOnce() {
        lose(() -> outbox.fanOut(JoinEntry.of(3).withFollowUp(FOLLOW_UP), steps(3)));

        assertThat(joins.list(JoinFilter.all(), 10))
                .singleElement()
                .satisfies(join -> assertThat(join.members()).isEqualTo(3));
        ackAll();
        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    void whatFollowsIsSaidOnceAlsoAfterTheEnd() {
        JoinIdentifier join = joins.start(JoinEntry.of(1));
        joins.reportCompleted(join, UUID.randomUUID());

        lose(() -> joins.follow(join, FOLLOW_UP));

        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    @Shows("OBX-084")
    void aStepIsAttachedOnce() {
        JoinIdentifier join = started(2);
        OutboxMessageIdentifier message = step();

        lose(() -> outbox.attach(join, List.of(message)));

        assertThat(stored(join).members()).isEqualTo(1);
    }

    @Test
    void aStepIsWrittenOnce() {
        JoinIdentifier join = started(2);

        lose(() -> stepOf(join));
        lose(() -> outbox.enqueueAll(List.of(OutboxEntry.of("step", "").withJoin(join))));

        assertThat(stored(join).members()).isEqualTo(2);
        ackAll();
        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    @Shows({"OBX-033", "OBX-046"})
    void anAckAndAFailureCountOnce() {
        JoinIdentifier join = started(2);
        OutboxMessageIdentifier acked = stepOf(join);
        OutboxMessageIdentifier failed = stepOf(join);
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> claimed = claim(owner);
        assertThat(claimed).hasSize(2);

        lose(() -> assertThat(outbox.ack(owner, List.of(item(acked)))).isEqualTo(1));
        lose(() -> assertThat(outbox.fail(owner, List.of(item(failed)), "no")).isEqualTo(1));

        assertThat(counted(join)).isEqualTo("1 + 1 of 2");
        assertThat(followUps()).containsExactly("undone badly");
    }

    @Test
    @Shows("OBX-086")
    void aReportCountsOnceAndIsToldThatItHolds() {
        JoinIdentifier join = started(1);

        lose(() -> assertThat(joins.reportCompleted(join, UUID.randomUUID())).isTrue());

        assertThat(counted(join)).isEqualTo("1 + 0 of 1");
        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    void aCancellationIsToldThatItHolds() {
        JoinIdentifier join = started(1);

        lose(() -> assertThat(joins.cancel(join)).isTrue());

        assertThat(stored(join).status()).isEqualTo(JoinStatus.CANCELLED);
    }
}
