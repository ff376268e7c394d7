package dev.windlass.internal.dispatch;

import static dev.windlass.Eventually.eventually;
import static dev.windlass.internal.dispatch.TestNode.LEASE;
import static dev.windlass.internal.dispatch.TestNode.node;
import static dev.windlass.internal.dispatch.TestNode.topics;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.queue.Ranking;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class TurnsTest {
    private static final int MANY = 100;

    private static Map<String, Integer> unlimited(String... topics) {
        return List.of(topics).stream().collect(Collectors.toMap(topic -> topic, topic -> MANY));
    }

    private static int workersFor(TestNode node, List<Attempt<String>> attempts) {
        return node.inHand.take(attempts, attempts).workers();
    }

    @Test
    void aTopicThatIsAloneUsesTheWholeNode() {
        TestNode node = node(6, unlimited("a"));
        assertThat(workersFor(node, node.claimed("a", 10))).isEqualTo(6);
        node.start(6);
    }

    @Test
    void aBusyTopicLeavesAPlaceToEachOther() {
        TestNode node = node(6, unlimited("a", "b", "c"));
        assertThat(workersFor(node, node.claimed("a", 10))).isEqualTo(4);
        node.start(4);
        assertThat(node.inHand.settle(List.of())).isZero();
        assertThat(node.capacity.hasPlace("a")).isFalse();
        assertThat(node.capacity.hasPlace("b")).isTrue();

        assertThat(workersFor(node, node.claimed("b", 3)))
                .as("one place is c's")
                .isEqualTo(1);
        assertThat(node.start().lane.topic).isEqualTo("b");
        assertThat(node.capacity.hasPlace("b")).isFalse();
        assertThat(workersFor(node, node.claimed("c", 3))).isEqualTo(1);
        assertThat(node.start().lane.topic).isEqualTo("c");
        assertThat(node.capacity.hasPlace("c")).isFalse();
    }

    @Test
    void aWorkerThatComesForAPlaceWhichIsKeptGoesAgain() {
        TestNode node = node(2, unlimited("a", "b"));
        node.take(node.claimed("a", 3));
        Attempt<String> first = node.start();
        node.take(node.claimed("b", 1));
        Attempt<String> other = node.start();
        node.finish(other);
        assertThat(node.inHand.next()).isNull();
        node.finish(first);
        assertThat(node.start().lane.topic).isEqualTo("a");
    }

    @Test
    void ofManyTopicsABusyOneUsesHalfOfTheNodeAndTheOthersFindAPlaceEach() {
        String[] names = IntStream.range(0, 20).mapToObj(n -> "t" + n).toArray(String[]::new);
        TestNode node = node(8, unlimited(names));
        assertThat(workersFor(node, node.claimed("t0", 10))).isEqualTo(4);
        node.start(4);
        for (int n = 1; n <= 4; n++) {
            assertThat(workersFor(node, node.claimed("t" + n, 3))).isEqualTo(1);
            assertThat(node.start().lane.topic).isEqualTo("t" + n);
        }
        assertThat(workersFor(node, node.claimed("t5", 1)))
                .as("the node is full")
                .isZero();
    }

    @Test
    void noPlaceIsKeptForATopicThatIsPaused() {
        TestNode node = node(4, unlimited("a", "b"));
        node.capacity.decide(new WorkStore.Decided(Set.of("b"), Set.of()));
        assertThat(workersFor(node, node.claimed("a", 10))).isEqualTo(4);
    }

    /** On a machine that stands still meanwhile, the quick ones use time too; it has to be seen once. */
    @Test
    void theTopicThatHasUsedTheLeastTimeComesFirst() {
        eventually().untilAsserted(() -> assertThat(topics(afterASlowOne())).containsExactly("b", "b", "b", "a", "a"));
    }

    private static List<Attempt<String>> afterASlowOne() throws InterruptedException {
        TestNode node = node(1, unlimited("a", "b"));
        node.take(node.claimed("a", 3));
        Attempt<String> slow = node.start();
        Thread.sleep(300);
        node.take(node.claimed("b", 3));
        node.finish(slow);
        List<Attempt<String>> order = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            order.add(node.start());
            node.finish(order.get(i));
        }
        return order;
    }

    @Test
    void timeThatIsUsedNowCountsAndOldTimeFades() {
        TopicLane<String> lane = new TopicLane<>(
                "a", new Handling<>((message, cancellation) -> {}, HandlerOptions.defaults()), 4, Ranking.NONE);
        TestNode node = node(1, unlimited("a"));
        Attempt<String> attempt = node.claimed("a", 1).get(0);
        lane.enlist(attempt);
        long now = System.nanoTime();
        lane.start(true, now);
        long hour = TimeUnit.HOURS.toNanos(1);
        assertThat(lane.used(now + hour))
                .as("more than that is not remembered, so nobody has to pay for ever")
                .isBetween(0.9e9, 1.1e9);
        lane.ended(attempt, new Result.Done(), now + hour);
        assertThat(lane.used(now + hour)).isGreaterThan(0.9e9);
        assertThat(lane.used(now + 2 * hour)).isLessThan(1e7);
    }

    @Test
    void oneSuspectAtATimeRunsBesideEverythingElse() {
        TestNode node = node(8, unlimited("a"));
        List<Attempt<String>> suspects = node.suspects("a", 3);
        List<Attempt<String>> all = new ArrayList<>(suspects);
        all.addAll(node.claimed("a", 3));
        assertThat(workersFor(node, all)).isEqualTo(4);
        assertThat(node.start(4)).containsExactlyInAnyOrder(suspects.get(0), all.get(3), all.get(4), all.get(5));
        node.finish(all.get(3));
        assertThat(node.inHand.next()).isNull();
        assertThat(node.demanded()).containsExactly("a");
        assertThat(node.capacity.hasPlace("a")).isTrue();

        node.finish(suspects.get(0));
        assertThat(node.inHand.next())
                .as("the next could take its process with it, and its outcome is not written yet")
                .isNull();
        assertThat(node.inHand.settle(List.of(suspects.get(0)))).isEqualTo(1);
        assertThat(node.start()).isSameAs(suspects.get(1));
    }

    @Test
    void suspectsOfAllTopicsTakeTurns() {
        TestNode node = node(8, unlimited("a", "b"));
        List<Attempt<String>> all = node.suspects("a", 2);
        all.addAll(node.suspects("b", 2));
        int workers = workersFor(node, all);
        List<Attempt<String>> order = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            assertThat(workers).isPositive();
            order.add(node.start());
            node.finish(order.get(i));
            for (; workers > 0; workers--) {
                assertThat(node.inHand.next()).isNull();
            }
            workers = node.inHand.settle(order);
        }
        assertThat(topics(order)).containsExactlyInAnyOrder("a", "a", "b", "b");
    }

    @Test
    void aSuspectKeepsItsTurnInItsTopic() {
        TestNode node = node(1, unlimited("a"));
        List<Attempt<String>> all = new ArrayList<>();
        for (int second = 0; second < 4; second++) {
            int crashes = second % 2;
            all.add(node.inHand.attempt(
                    TestNode.message("a", second, crashes, crashes, 1), System.nanoTime() + LEASE.toNanos()));
        }
        node.take(all);
        for (Attempt<String> expected : all) {
            Attempt<String> attempt = node.start();
            assertThat(attempt).isSameAs(expected);
            node.complete(attempt);
        }
    }

    @Test
    void suspectsThatWaitTakeNobodysRoom() {
        TestNode node = node(2, unlimited("a"));
        node.take(node.claimed("a", 1));
        node.complete(node.start());
        List<WorkStore.Demand> before = node.ask().demands();
        node.take(node.suspects("a", 31));
        assertThat(node.ask().demands()).isEqualTo(before);
        assertThat(node.ask().limit()).isEqualTo(10);
        node.take(node.suspects("a", 1));
        assertThat(node.ask().demands()).as("the topic consists of suspects").isEmpty();
    }

    @Test
    void aSuspectThatHasWaitedHalfALeaseIsGivenBack() throws Exception {
        TestNode node = node(2, unlimited("a"), Duration.ofSeconds(4), Long.MAX_VALUE);
        List<Attempt<String>> suspects = node.take(node.suspects("a", 3));
        node.start();
        assertThat(node.inHand.giveBack()).isEmpty();
        Thread.sleep(2100);
        assertThat(node.inHand.giveBack()).containsExactly(suspects.get(1), suspects.get(2));
    }

    @Test
    void aTopicInWhichNothingMovesTakesNothingMoreButTheOthersDo() throws Exception {
        TestNode node = node(4, unlimited("a", "b"), Duration.ofSeconds(4), Long.MAX_VALUE);
        List<Attempt<String>> hung = node.take(node.claimed("a", 5));
        List<Attempt<String>> running = node.start(3);
        Thread.sleep(2100);
        assertThat(node.inHand.giveBack()).containsExactly(hung.get(3), hung.get(4));
        assertThat(node.demanded()).containsExactly("b");
        node.finish(running.get(0));
        assertThat(node.demanded()).containsExactlyInAnyOrder("a", "b");
    }
}
