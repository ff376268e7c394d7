package dev.windlass.internal.dispatch;

import static dev.windlass.internal.dispatch.TestNode.LEASE;
import static dev.windlass.internal.dispatch.TestNode.node;
import static dev.windlass.internal.dispatch.TestNode.resting;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class CapacityTest {
    private static final long NOW = System.nanoTime();

    @Test
    void claimsAtFirstNoMoreThanCanStartAtOnce() {
        TestNode node = node(5, Map.of("a", 3));
        List<WorkStore.Demand> demands = node.ask().demands();
        assertThat(demands).containsExactly(new WorkStore.Demand("a", 3, Position.START));
        assertThat(node.ask().limit()).isEqualTo(3);
    }

    @Test
    void claimsForATopicNoMoreThanTheNodeCanStart() {
        TestNode node = node(2, Map.of("a", 16));
        assertThat(node.ask().demands()).containsExactly(new WorkStore.Demand("a", 2, Position.START));
    }

    @Test
    void claimsAheadOnceHandlersAreKnownToBeQuick() {
        TestNode node = node(5, Map.of("a", 3));
        List<Attempt<String>> first = node.claimed("a", 1);
        assertThat(node.inHand.take(first, first).workers()).isEqualTo(1);
        node.finish(node.start());
        node.inHand.settle(first);
        List<WorkStore.Demand> demands = node.ask().demands();
        assertThat(demands.get(0).places()).isEqualTo(10);
        assertThat(node.ask().limit()).isEqualTo(10);
    }

    @Test
    void aSecondClaimAsksForNoMoreThanTheFirstLeaves() {
        TestNode node = node(5, Map.of("a", 3));
        Capacity.Ask first = node.capacity.ask(Integer.MAX_VALUE);
        assertThat(first.limit()).isEqualTo(3);
        assertThat(node.capacity.ask(Integer.MAX_VALUE).isNothing()).isTrue();
        node.capacity.answered(first);
        assertThat(node.capacity.ask(Integer.MAX_VALUE).limit()).isEqualTo(3);
    }

    @Test
    void twoClaimsShareTheRoomForPayloads() {
        TestNode node = node(4, Map.of("a", 20), LEASE, 100);
        Capacity.Ask first = node.capacity.ask(Integer.MAX_VALUE);
        node.capacity.answered(first);
        assertThat(first.bytes()).isEqualTo(50);
        node.take(node.claimed("a", 1, 0, 20));
        node.finish(node.start());
        assertThat(node.capacity.ask(Integer.MAX_VALUE).bytes()).isEqualTo(50);
        assertThat(node.capacity.ask(Integer.MAX_VALUE).bytes()).isEqualTo(50);
        assertThat(node.capacity.ask(Integer.MAX_VALUE).isNothing()).isTrue();
    }

    @Test
    void claimsGrowWhileTheyAreFullAndShrinkAgain() {
        TestNode node = node(5, Map.of("a", 3));
        List<Attempt<String>> first = node.take(node.claimed("a", 1));
        node.finish(node.start());
        node.inHand.settle(first);
        for (int size : new int[] {10, 20, 40, 80, 160, 320, 640, 1000, 1000}) {
            assertThat(claims(node, size)).isEqualTo(size);
        }
        for (int size : new int[] {1000, 500, 250, 125, 62, 31, 15, 10, 10}) {
            assertThat(claims(node, 0)).isEqualTo(size);
        }
    }

    /** So many are found. Returns how many were asked for. */
    private static int claims(TestNode node, int found) {
        Capacity.Ask ask = node.ask();
        node.capacity.claimed(
                ask, node.claimed("a", found).stream().map(each -> each.claimed).toList());
        return ask.limit();
    }

    @Test
    void topicsTakeTurns() {
        TestNode node = node(1, Map.of("a", 1, "b", 1));
        assertThat(node.ask().demands().get(0).topic())
                .isNotEqualTo(node.ask().demands().get(0).topic());
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
        assertThat(node.capacity.isFull(node.ask().demands(), List.of())).isFalse();
    }

    @Test
    void whenTheRestIsOverOneMessageIsClaimedAndStartedAtATime() {
        TestNode node = resting(Duration.ofNanos(1));
        List<Attempt<String>> first = node.claimed("a", 1);
        node.inHand.take(first, first);
        node.fail();
        assertThat(node.capacity.restEnds()).isEmpty();
        assertThat(node.ask().demands()).contains(new WorkStore.Demand("a", 1, Position.START));
        List<Attempt<String>> surplus = node.claimed("a", 3);
        InHand.Taken<String> taken = node.inHand.take(surplus, surplus);
        assertThat(taken.back()).containsExactlyInAnyOrder(surplus.get(1), surplus.get(2));
        assertThat(node.demanded()).as("a probe waits").containsExactly("b");
        Attempt<String> probe = node.start();
        assertThat(probe).isSameAs(surplus.get(0));
        assertThat(node.demanded()).as("a probe runs").containsExactly("b");
        assertThat(node.capacity.isFull(node.ask().demands(), List.of()))
                .as("there is more to do once it has ended")
                .isTrue();
        node.finish(probe);
        node.inHand.settle(surplus);
        assertThat(node.ask().demands()).anyMatch(demand -> demand.topic().equals("a") && demand.places() > 1);
        assertThat(node.capacity.hasPlace("a")).isTrue();
    }

    /** As if a claim had asked for all topics and found these. */
    private static void found(TestNode node, List<Attempt<String>> attempts) {
        node.capacity.claimed(
                node.ask(), attempts.stream().map(each -> each.claimed).toList());
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
        assertThat(node.ask().demands()).isEmpty();
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
        List<Attempt<String>> some = node.claimed("a", 35);
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

    private static Capacity.@Nullable Kept keep(TestNode node, String topic, long now) {
        return node.capacity.keep(topic, 1, now, now + 1_000_000_000);
    }

    private static TestNode drained(int concurrency, Map<String, Integer> topics) {
        TestNode node = node(concurrency, topics);
        node.capacity.claimed(node.ask(), List.of());
        return node;
    }

    @Test
    void keepsAPlaceForWhatIsWrittenOnlyWhenNothingElseIsReady() {
        TestNode node = node(2, Map.of("a", 2));
        assertThat(keep(node, "a", NOW)).as("not known before a claim").isNull();

        node.capacity.claimed(node.ask(), List.of());
        assertThat(keep(node, "a", NOW)).isNotNull();
        assertThat(keep(node, "unknown", NOW)).isNull();

        node.take(node.claimed("a", 1));
        assertThat(keep(node, "a", NOW)).as("one waits").isNull();
    }

    @Test
    void keepsNoMorePlacesThanThereAre() {
        TestNode node = drained(3, Map.of("a", 2, "b", 3));
        Capacity.Kept first = Objects.requireNonNull(keep(node, "a", NOW));
        assertThat(keep(node, "a", NOW)).isNotNull();
        assertThat(keep(node, "a", NOW)).as("two of a at once").isNull();
        assertThat(keep(node, "b", NOW)).isNotNull();
        assertThat(keep(node, "b", NOW)).as("three at once").isNull();

        node.capacity.free(first);
        node.capacity.free(first);
        assertThat(keep(node, "b", NOW)).isNotNull();
        assertThat(keep(node, "a", NOW)).isNull();
    }

    @Test
    void leavesAPlaceToOtherTopicsThatHaveNone() {
        TestNode node = drained(4, Map.of("a", 4, "b", 4));
        for (int i = 0; i < 3; i++) {
            assertThat(keep(node, "a", NOW)).isNotNull();
        }
        assertThat(keep(node, "a", NOW)).isNull();
        assertThat(keep(node, "b", NOW)).isNotNull();
    }

    @Test
    void claimsLeaveItsPlaceToWhatHasBeenWrittenHere() {
        TestNode node = drained(3, Map.of("a", 3));
        Capacity.Kept place = Objects.requireNonNull(keep(node, "a", NOW));
        assertThat(node.ask().limit())
                .as("its transaction may stay open for long")
                .isEqualTo(3);
        node.capacity.written(place);
        assertThat(node.ask().limit()).isEqualTo(2);
        assertThat(node.capacity.fits(place)).isTrue();
        node.capacity.free(place);
        assertThat(node.ask().limit()).isEqualTo(3);
    }

    @Test
    void whatHasBeenWrittenHereDoesNotFitWhenOthersHaveTakenItsPlace() {
        TestNode node = drained(1, Map.of("a", 1));
        Capacity.Kept place = Objects.requireNonNull(keep(node, "a", NOW));
        node.take(node.claimed("a", 1));
        node.start();
        node.capacity.written(place);
        assertThat(node.capacity.fits(place)).isFalse();
    }

    @Test
    void whatHasBeenWrittenHereDoesNotFitWhereManyWaitAlready() {
        TestNode node = drained(1, Map.of("a", 1));
        Capacity.Kept place = Objects.requireNonNull(keep(node, "a", NOW));
        node.take(node.claimed("a", 500));
        node.start();
        node.capacity.written(place);
        assertThat(node.capacity.fits(place)).isFalse();
    }

    @Test
    void keepsNoPlaceForATransactionThatDoesNotEnd() {
        TestNode node = drained(1, Map.of("a", 1));
        Capacity.Kept forgotten = Objects.requireNonNull(keep(node, "a", NOW));
        assertThat(keep(node, "a", NOW + 999_000_000)).isNull();
        assertThat(keep(node, "a", NOW + 1_000_000_000)).isNotNull();

        node.capacity.free(forgotten);
        assertThat(keep(node, "a", NOW + 1_000_000_000))
                .as("the other's is still kept")
                .isNull();
    }

    @Test
    void keepsNothingWhenItStartsNothingAnyMore() {
        TestNode node = drained(1, Map.of("a", 1));
        node.inHand.close();
        assertThat(keep(node, "a", NOW)).isNull();
    }

    @Test
    void keepsNoPlaceWhereSomethingWasWrittenForAClaim() {
        TestNode node = drained(2, Map.of("a", 2));
        node.capacity.isNotDrained("a");
        assertThat(keep(node, "a", NOW)).isNull();
        node.capacity.claimed(node.ask(), List.of());
        assertThat(keep(node, "a", NOW)).isNotNull();
    }

    @Test
    void keepsNoMorePayloadThanAPartOfTheBudget() {
        TestNode node = node(9, Map.of("a", 9), LEASE, 160);
        node.capacity.claimed(node.ask(), List.of());
        assertThat(node.capacity.keep("a", 11, NOW, NOW + 1)).as("a large one").isNull();
        for (int i = 0; i < 4; i++) {
            assertThat(node.capacity.keep("a", 10, NOW, NOW + 1)).isNotNull();
        }
        assertThat(node.capacity.keep("a", 10, NOW, NOW + 1)).isNull();
        assertThat(node.capacity.keep("a", 10, NOW + 1, NOW + 2))
                .as("the others are over")
                .isNotNull();
    }
}
