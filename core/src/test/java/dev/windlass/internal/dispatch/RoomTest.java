package dev.windlass.internal.dispatch;

import static dev.windlass.internal.dispatch.TestNode.LEASE;
import static dev.windlass.internal.dispatch.TestNode.node;
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

    private static void handleOne(TestNode node, String topic) {
        node.take(node.claimed(topic, 1));
        node.complete(node.start());
    }

    private static int places(TestNode node, String topic) {
        return node.ask().demands().stream()
                .filter(demand -> demand.topic().equals(topic))
                .mapToInt(WorkStore.Demand::places)
                .sum();
    }

    @Test
    void whatOneTopicHasInHandDoesNotKeepOthersFromTheirNextMessages() {
        TestNode node = node(4, TWO);
        handleOne(node, "b");
        node.take(node.claimed("a", 60));
        List<WorkStore.Demand> demands = node.ask().demands();
        assertThat(demands).containsExactly(new WorkStore.Demand("b", 10, Position.START));
        assertThat(node.ask().limit()).isEqualTo(10);
    }

    @Test
    void whoWantsNoLimitsGetsMessages() {
        int unlimited = Integer.MAX_VALUE;
        TestNode node = node(unlimited, unlimited, Map.of("a", unlimited), LEASE, Long.MAX_VALUE);
        assertThat(places(node, "a")).isPositive();
        handleOne(node, "a");
        assertThat(places(node, "a")).isPositive();
        assertThat(node.ask().limit()).isPositive();
    }

    @Test
    void beyondTheRoomATopicTakesNoMoreThanABatchAndOneThatIsNotKnownToBeQuickOneMessage() {
        TestNode node = node(4, TWO);
        node.take(node.claimed("a", 60));
        assertThat(places(node, "b")).isEqualTo(1);
        node.inHand.take(node.claimed("b", 1), List.of());
        assertThat(node.ask().demands()).isEmpty();
    }

    @Test
    void aClaimForSeveralTopicsTakesNoMoreThanThereIsRoomFor() {
        TestNode node = node(4, TWO);
        handleOne(node, "a");
        handleOne(node, "b");
        node.inHand.take(node.claimed("a", 10), List.of());
        node.inHand.take(node.claimed("b", 31), List.of());
        List<WorkStore.Demand> demands = node.ask().demands();
        assertThat(demands)
                .containsExactlyInAnyOrder(
                        new WorkStore.Demand("a", 3, Position.START), new WorkStore.Demand("b", 3, Position.START));
        assertThat(node.ask().limit()).isEqualTo(3);
    }

    @Test
    void nothingIsAskedForWhileThePayloadsInHandFillTheirBudget() {
        TestNode node = node(4, Map.of("a", 4), LEASE, 100);
        assertThat(node.capacity.bytesLeft()).isEqualTo(100);
        List<Attempt<String>> all = node.take(node.claimed("a", 2, 0, 60));
        assertThat(node.ask().demands()).isEmpty();
        assertThat(node.capacity.hasPlace("a")).isFalse();
        node.finish(node.start());
        assertThat(node.capacity.bytesLeft())
                .as("what only waits to be written has no payload any more")
                .isEqualTo(40);
        assertThat(node.demanded()).containsExactly("a");
        assertThat(node.inHand.close()).containsExactly(all.get(1));
        assertThat(node.capacity.bytesLeft()).isEqualTo(100);
    }

    @Test
    void whatIsGivenBackOrGivenUpLeavesTheBudget() {
        TestNode node = node(4, TWO, LEASE, 1000);
        node.take(node.claimed("a", 1, 0, 100));
        node.take(node.claimed("a", 2, 1, 10));
        node.take(node.claimed("b", 1, 0, 1));
        assertThat(node.capacity.bytesLeft()).isEqualTo(1000 - 121);
        List<Attempt<String>> started = node.start(3);
        node.capacity.decide(new WorkStore.Decided(Set.of("a", "b"), Set.of()));
        assertThat(node.capacity.bytesLeft()).isEqualTo(1000 - 111);
        started.forEach(attempt -> node.inHand.detach(attempt, new Result.Stopped()));
        assertThat(node.capacity.bytesLeft()).isEqualTo(1000);
    }

    @Test
    void aTopicWithLargePayloadsLeavesHalfOfTheBudgetToOthers() {
        TestNode node = node(4, TWO, LEASE, 1000);
        node.take(node.claimed("a", 1, 0, 499));
        assertThat(node.demanded()).containsExactlyInAnyOrder("a", "b");
        node.take(node.claimed("a", 1, 0, 2));
        assertThat(node.demanded()).containsExactly("b");
        node.take(node.claimed("b", 1, 0, 498));
        assertThat(node.demanded()).containsExactly("b");
        node.take(node.claimed("b", 1, 0, 1));
        assertThat(node.ask().demands()).isEmpty();
    }

    @Test
    void aClaimThatWasCutShortHasNotSeenAllThatIsReady() {
        TestNode node = node(4, Map.of("a", 4));
        Capacity.Ask ask = node.ask();
        Capacity.Ask one = node.capacity.ask(1);
        node.capacity.answered(one);
        node.capacity.claimed(one, List.of(node.claimed("a", 1).get(0).claimed));
        assertThat(node.capacity.takes(1)).isEmpty();
        node.capacity.claimed(ask, List.of(node.claimed("a", 1).get(0).claimed));
        assertThat(node.capacity.takes(1)).containsExactly("a");
    }
}
