package dev.windlass.internal.dispatch;

import static dev.windlass.internal.dispatch.Hands.LEASE;
import static dev.windlass.internal.dispatch.Hands.claimed;
import static dev.windlass.internal.dispatch.Hands.complete;
import static dev.windlass.internal.dispatch.Hands.demanded;
import static dev.windlass.internal.dispatch.Hands.finish;
import static dev.windlass.internal.dispatch.Hands.hand;
import static dev.windlass.internal.dispatch.Hands.start;
import static dev.windlass.internal.dispatch.Hands.take;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Batches are of ten, so there is room for 30 messages and what runs. */
final class RoomTest {
    private static final Map<String, Integer> TWO = Map.of("a", 4, "b", 4);

    private static void handleOne(Hand<String> hand, String topic) {
        take(hand, claimed(hand, topic, 1));
        complete(hand, start(hand));
    }

    private static int places(Hand<String> hand, String topic) {
        return hand.demands(false).stream()
                .filter(demand -> demand.topic().equals(topic))
                .mapToInt(WorkStore.Demand::places)
                .sum();
    }

    @Test
    void whatOneTopicHasInHandDoesNotKeepOthersFromTheirNextMessages() {
        Hand<String> hand = hand(4, TWO);
        handleOne(hand, "b");
        take(hand, claimed(hand, "a", 60));
        List<WorkStore.Demand> demands = hand.demands(false);
        assertThat(demands).containsExactly(new WorkStore.Demand("b", 10, Position.START));
        assertThat(hand.limit(demands)).isEqualTo(10);
    }

    @Test
    void whoWantsNoLimitsGetsMessages() {
        int unlimited = Integer.MAX_VALUE;
        Hand<String> hand = hand(unlimited, unlimited, Map.of("a", unlimited), LEASE, Long.MAX_VALUE);
        assertThat(places(hand, "a")).isPositive();
        handleOne(hand, "a");
        assertThat(places(hand, "a")).isPositive();
        assertThat(hand.limit(hand.demands(false))).isPositive();
    }

    @Test
    void beyondTheRoomATopicTakesNoMoreThanABatchAndOneThatIsNotKnownToBeQuickOneMessage() {
        Hand<String> hand = hand(4, TWO);
        take(hand, claimed(hand, "a", 60));
        assertThat(places(hand, "b")).isEqualTo(1);
        hand.take(claimed(hand, "b", 1), List.of());
        assertThat(hand.demands(false)).isEmpty();
    }

    @Test
    void aClaimForSeveralTopicsTakesNoMoreThanThereIsRoomFor() {
        Hand<String> hand = hand(4, TWO);
        handleOne(hand, "a");
        handleOne(hand, "b");
        hand.take(claimed(hand, "a", 10), List.of());
        hand.take(claimed(hand, "b", 21), List.of());
        List<WorkStore.Demand> demands = hand.demands(false);
        assertThat(demands)
                .containsExactlyInAnyOrder(
                        new WorkStore.Demand("a", 3, Position.START), new WorkStore.Demand("b", 3, Position.START));
        assertThat(hand.limit(demands)).isEqualTo(3);
    }

    @Test
    void nothingIsAskedForWhileThePayloadsInHandFillTheirBudget() {
        Hand<String> hand = hand(4, Map.of("a", 4), LEASE, 100);
        assertThat(hand.bytesLeft()).isEqualTo(100);
        List<Attempt<String>> all = take(hand, claimed(hand, "a", 2, 0, 60));
        assertThat(hand.demands(false)).isEmpty();
        assertThat(hand.hasPlace("a")).isFalse();
        finish(hand, start(hand));
        assertThat(hand.bytesLeft())
                .as("what only waits to be written has no payload any more")
                .isEqualTo(40);
        assertThat(demanded(hand)).containsExactly("a");
        assertThat(hand.close()).containsExactly(all.get(1));
        assertThat(hand.bytesLeft()).isEqualTo(100);
    }

    @Test
    void whatIsGivenBackOrGivenUpLeavesTheBudget() {
        Hand<String> hand = hand(4, TWO, LEASE, 1000);
        take(hand, claimed(hand, "a", 1, 0, 100));
        take(hand, claimed(hand, "a", 2, 1, 10));
        take(hand, claimed(hand, "b", 1, 0, 1));
        assertThat(hand.bytesLeft()).isEqualTo(1000 - 121);
        List<Attempt<String>> started = start(hand, 3);
        hand.decide(new WorkStore.Decided(Set.of("a", "b"), Set.of()));
        assertThat(hand.bytesLeft()).isEqualTo(1000 - 111);
        started.forEach(attempt -> hand.detach(attempt, new Result.Stopped()));
        assertThat(hand.bytesLeft()).isEqualTo(1000);
    }

    @Test
    void aTopicWithLargePayloadsLeavesHalfOfTheBudgetToOthers() {
        Hand<String> hand = hand(4, TWO, LEASE, 1000);
        take(hand, claimed(hand, "a", 1, 0, 499));
        assertThat(demanded(hand)).containsExactlyInAnyOrder("a", "b");
        take(hand, claimed(hand, "a", 1, 0, 2));
        assertThat(demanded(hand)).containsExactly("b");
        take(hand, claimed(hand, "b", 1, 0, 498));
        assertThat(demanded(hand)).containsExactly("b");
        take(hand, claimed(hand, "b", 1, 0, 1));
        assertThat(hand.demands(false)).isEmpty();
    }

    @Test
    void aClaimThatWasCutShortHasNotSeenAllThatIsReady() {
        Hand<String> hand = hand(4, Map.of("a", 4));
        List<WorkStore.Demand> demands = hand.demands(false);
        hand.advanceBounds(demands, List.of(claimed(hand, "a", 1).get(0).claimed), true);
        assertThat(hand.takes(1)).isEmpty();
        hand.advanceBounds(demands, List.of(claimed(hand, "a", 1).get(0).claimed), false);
        assertThat(hand.takes(1)).containsExactly("a");
    }
}
