package dev.windlass.internal.dispatch;

import static dev.windlass.internal.dispatch.TestNode.node;
import static dev.windlass.internal.dispatch.TestNode.resting;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class CapacityTest {
    @Test
    void claimsAtFirstNoMoreThanCanStartAtOnce() {
        TestNode node = node(5, Map.of("a", 3));
        List<WorkStore.Demand> demands = node.capacity.demands();
        assertThat(demands).containsExactly(new WorkStore.Demand("a", 3, Position.START));
        assertThat(node.capacity.limit(demands)).isEqualTo(3);
    }

    @Test
    void claimsForATopicNoMoreThanTheNodeCanStart() {
        TestNode node = node(2, Map.of("a", 16));
        assertThat(node.capacity.demands()).containsExactly(new WorkStore.Demand("a", 2, Position.START));
    }

    @Test
    void claimsAheadOnceHandlersAreKnownToBeQuick() {
        TestNode node = node(5, Map.of("a", 3));
        List<Attempt<String>> first = node.claimed("a", 1);
        assertThat(node.inHand.take(first, first).workers()).isEqualTo(1);
        node.finish(node.start());
        node.inHand.settle(first);
        List<WorkStore.Demand> demands = node.capacity.demands();
        assertThat(demands.get(0).places()).isEqualTo(33);
        assertThat(node.capacity.limit(demands)).isEqualTo(10);
    }

    @Test
    void topicsTakeTurns() {
        TestNode node = node(1, Map.of("a", 1, "b", 1));
        assertThat(node.capacity.demands().get(0).topic())
                .isNotEqualTo(node.capacity.demands().get(0).topic());
    }

    @Test
    void aLaneThatRestsDemandsNothingAndGivesBackWhatWaits() {
        TestNode node = resting(Duration.ofHours(1));
        List<Attempt<String>> all = node.claimed("a", 3);
        all.addAll(node.claimed("b", 1));
        node.inHand.take(all, all);
        Attempt<String> failing = node.start();
        Attempt<String> other = node.start();
        assertThat(other.lane.topic).isEqualTo("b");
        node.fail(failing);
        assertThat(node.inHand.recall()).containsExactlyInAnyOrder(all.get(1), all.get(2));
        assertThat(node.inHand.next()).isNull();
        node.inHand.settle(all);
        assertThat(node.demanded()).containsExactly("b");
        assertThat(node.capacity.hasPlace("a")).isFalse();
        assertThat(node.capacity.hasPlace("b")).isTrue();
        assertThat(node.capacity.restEnds()).isPresent();
    }

    @Test
    void aLaneAtRestDoesNotMakeAClaimLookFull() {
        TestNode node = resting(Duration.ofHours(1));
        List<Attempt<String>> first = node.claimed("a", 1);
        node.inHand.take(first, first);
        node.fail();
        assertThat(node.capacity.isFull(node.capacity.demands(), List.of())).isFalse();
    }

    @Test
    void whenTheRestIsOverOneMessageIsClaimedAndStartedAtATime() {
        TestNode node = resting(Duration.ofNanos(1));
        List<Attempt<String>> first = node.claimed("a", 1);
        node.inHand.take(first, first);
        node.fail();
        assertThat(node.capacity.restEnds()).isEmpty();
        assertThat(node.capacity.demands()).contains(new WorkStore.Demand("a", 1, Position.START));
        List<Attempt<String>> surplus = node.claimed("a", 3);
        InHand.Taken<String> taken = node.inHand.take(surplus, surplus);
        assertThat(taken.back()).containsExactlyInAnyOrder(surplus.get(1), surplus.get(2));
        assertThat(node.demanded()).as("a probe waits").containsExactly("b");
        Attempt<String> probe = node.start();
        assertThat(probe).isSameAs(surplus.get(0));
        assertThat(node.demanded()).as("a probe runs").containsExactly("b");
        assertThat(node.capacity.isFull(node.capacity.demands(), List.of()))
                .as("there is more to do once it has ended")
                .isTrue();
        node.finish(probe);
        node.inHand.settle(surplus);
        assertThat(node.capacity.demands()).anyMatch(demand -> demand.topic().equals("a") && demand.places() > 1);
        assertThat(node.capacity.hasPlace("a")).isTrue();
    }

    /** As if a claim had asked for all topics and found these. */
    private static void found(TestNode node, List<Attempt<String>> attempts) {
        List<WorkStore.Demand> demands = node.capacity.demands();
        boolean cut = attempts.size() >= node.capacity.limit(demands);
        node.capacity.claimed(
                demands, attempts.stream().map(each -> each.claimed).toList(), cut);
        node.inHand.take(attempts, attempts);
    }

    @Test
    void theNextOfAKeyIsTakenOnlyOfTopicsThatHadNothingElseReady() {
        TestNode node = node(5, Map.of("a", 3, "b", 3));
        assertThat(node.capacity.takes(1)).isEmpty();
        found(node, node.claimed("a", 3));
        assertThat(node.capacity.takes(1)).containsExactly("b");
        found(node, List.of());
        assertThat(node.capacity.takes(1)).containsExactly("b");
    }

    @Test
    void theNextOfAKeyIsNotTakenOnceTheTopicWasNotAskedFor() {
        TestNode node = node(5, Map.of("a", 3));
        found(node, List.of());
        List<Attempt<String>> all = node.claimed("a", 3);
        node.inHand.take(all, all);
        assertThat(node.capacity.demands()).isEmpty();
        Attempt<String> ended = node.start();
        node.finish(ended);
        node.inHand.settle(List.of(ended));
        assertThat(node.capacity.takes(1)).isEmpty();
        found(node, List.of());
        assertThat(node.capacity.takes(1)).containsExactly("a");
    }

    @Test
    void theNextOfAKeyIsNotTakenBeyondThePlacesOfItsTopic() {
        TestNode node = node(5, Map.of("a", 3));
        found(node, List.of());
        assertThat(node.capacity.takes(3)).containsExactly("a");
        assertThat(node.capacity.takes(4)).isEmpty();
    }

    @Test
    void theNextOfAKeyIsNotTakenWhileThereIsNoRoomForAClaim() {
        TestNode node = node(5, Map.of("a", 3));
        List<Attempt<String>> first = node.claimed("a", 1);
        found(node, first);
        node.finish(node.start());
        node.inHand.settle(first);
        List<Attempt<String>> some = node.claimed("a", 25);
        node.inHand.take(some, List.of());
        assertThat(node.capacity.takes(1)).containsExactly("a");
        node.inHand.take(node.claimed("a", 1), List.of());
        assertThat(node.capacity.takes(1)).isEmpty();
    }

    @Test
    void theNextOfAKeyIsNotTakenByWhoPausesOrCloses() {
        TestNode node = node(5, Map.of("a", 3));
        found(node, List.of());
        node.capacity.decide(new WorkStore.Decided(Set.of("a"), Set.of()));
        assertThat(node.capacity.takes(1)).isEmpty();
        node.capacity.decide(new WorkStore.Decided(Set.of(), Set.of()));
        assertThat(node.capacity.takes(1)).containsExactly("a");
        node.inHand.close();
        assertThat(node.capacity.takes(1)).isEmpty();
    }
}
