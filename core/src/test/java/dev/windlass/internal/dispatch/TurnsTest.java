package dev.windlass.internal.dispatch;

import static dev.windlass.internal.dispatch.Hands.LEASE;
import static dev.windlass.internal.dispatch.Hands.claimed;
import static dev.windlass.internal.dispatch.Hands.complete;
import static dev.windlass.internal.dispatch.Hands.demanded;
import static dev.windlass.internal.dispatch.Hands.finish;
import static dev.windlass.internal.dispatch.Hands.hand;
import static dev.windlass.internal.dispatch.Hands.start;
import static dev.windlass.internal.dispatch.Hands.suspects;
import static dev.windlass.internal.dispatch.Hands.take;
import static dev.windlass.internal.dispatch.Hands.topics;
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

    private static int workersFor(Hand<String> hand, List<Attempt<String>> attempts) {
        return hand.take(attempts, attempts).workers();
    }

    @Test
    void aTopicThatIsAloneUsesTheWholeNode() {
        Hand<String> hand = hand(6, unlimited("a"));
        assertThat(workersFor(hand, claimed(hand, "a", 10))).isEqualTo(6);
        start(hand, 6);
    }

    @Test
    void aBusyTopicLeavesAPlaceToEachOther() {
        Hand<String> hand = hand(6, unlimited("a", "b", "c"));
        assertThat(workersFor(hand, claimed(hand, "a", 10))).isEqualTo(4);
        start(hand, 4);
        assertThat(hand.settle(List.of())).isZero();
        assertThat(hand.hasPlace("a")).isFalse();
        assertThat(hand.hasPlace("b")).isTrue();

        assertThat(workersFor(hand, claimed(hand, "b", 3)))
                .as("one place is c's")
                .isEqualTo(1);
        assertThat(start(hand).lane.topic).isEqualTo("b");
        assertThat(hand.hasPlace("b")).isFalse();
        assertThat(workersFor(hand, claimed(hand, "c", 3))).isEqualTo(1);
        assertThat(start(hand).lane.topic).isEqualTo("c");
        assertThat(hand.hasPlace("c")).isFalse();
    }

    @Test
    void aWorkerThatComesForAPlaceWhichIsKeptGoesAgain() {
        Hand<String> hand = hand(2, unlimited("a", "b"));
        take(hand, claimed(hand, "a", 3));
        Attempt<String> first = start(hand);
        take(hand, claimed(hand, "b", 1));
        Attempt<String> other = start(hand);
        finish(hand, other);
        assertThat(hand.next()).isNull();
        finish(hand, first);
        assertThat(start(hand).lane.topic).isEqualTo("a");
    }

    @Test
    void ofManyTopicsABusyOneUsesHalfOfTheNodeAndTheOthersFindAPlaceEach() {
        String[] names = IntStream.range(0, 20).mapToObj(n -> "t" + n).toArray(String[]::new);
        Hand<String> hand = hand(8, unlimited(names));
        assertThat(workersFor(hand, claimed(hand, "t0", 10))).isEqualTo(4);
        start(hand, 4);
        for (int n = 1; n <= 4; n++) {
            assertThat(workersFor(hand, claimed(hand, "t" + n, 3))).isEqualTo(1);
            assertThat(start(hand).lane.topic).isEqualTo("t" + n);
        }
        assertThat(workersFor(hand, claimed(hand, "t5", 1)))
                .as("the node is full")
                .isZero();
    }

    @Test
    void noPlaceIsKeptForATopicThatIsPaused() {
        Hand<String> hand = hand(4, unlimited("a", "b"));
        hand.decide(new WorkStore.Decided(Set.of("b"), Set.of()));
        assertThat(workersFor(hand, claimed(hand, "a", 10))).isEqualTo(4);
    }

    @Test
    void theTopicThatHasUsedTheLeastTimeComesFirst() throws Exception {
        Hand<String> hand = hand(1, unlimited("a", "b"));
        take(hand, claimed(hand, "a", 3));
        Attempt<String> slow = start(hand);
        Thread.sleep(300);
        take(hand, claimed(hand, "b", 3));
        finish(hand, slow);
        List<Attempt<String>> order = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            order.add(start(hand));
            finish(hand, order.get(i));
        }
        assertThat(topics(order)).containsExactly("b", "b", "b", "a", "a");
    }

    @Test
    void timeThatIsUsedNowCountsAndOldTimeFades() {
        TopicLane<String> lane = new TopicLane<>(
                "a", new Handling<>((message, cancellation) -> {}, HandlerOptions.defaults()), 4, Ranking.NONE);
        Hand<String> hand = hand(1, unlimited("a"));
        Attempt<String> attempt = claimed(hand, "a", 1).get(0);
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
        Hand<String> hand = hand(8, unlimited("a"));
        List<Attempt<String>> suspects = suspects(hand, "a", 3);
        List<Attempt<String>> all = new ArrayList<>(suspects);
        all.addAll(claimed(hand, "a", 3));
        assertThat(workersFor(hand, all)).isEqualTo(4);
        assertThat(start(hand, 4)).containsExactlyInAnyOrder(suspects.get(0), all.get(3), all.get(4), all.get(5));
        finish(hand, all.get(3));
        assertThat(hand.next()).isNull();
        assertThat(demanded(hand)).containsExactly("a");
        assertThat(hand.hasPlace("a")).isTrue();

        finish(hand, suspects.get(0));
        assertThat(hand.next())
                .as("the next could take its process with it, and its outcome is not written yet")
                .isNull();
        assertThat(hand.settle(List.of(suspects.get(0)))).isEqualTo(1);
        assertThat(start(hand)).isSameAs(suspects.get(1));
    }

    @Test
    void suspectsOfAllTopicsTakeTurns() {
        Hand<String> hand = hand(8, unlimited("a", "b"));
        List<Attempt<String>> all = suspects(hand, "a", 2);
        all.addAll(suspects(hand, "b", 2));
        int workers = workersFor(hand, all);
        List<Attempt<String>> order = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            assertThat(workers).isPositive();
            order.add(start(hand));
            finish(hand, order.get(i));
            for (; workers > 0; workers--) {
                assertThat(hand.next()).isNull();
            }
            workers = hand.settle(order);
        }
        assertThat(topics(order)).containsExactlyInAnyOrder("a", "a", "b", "b");
    }

    @Test
    void aSuspectKeepsItsTurnInItsTopic() {
        Hand<String> hand = hand(1, unlimited("a"));
        List<Attempt<String>> all = new ArrayList<>();
        for (int second = 0; second < 4; second++) {
            int crashes = second % 2;
            all.add(hand.attempt(Hands.message("a", second, crashes, crashes, 1), System.nanoTime() + LEASE.toNanos()));
        }
        take(hand, all);
        for (Attempt<String> expected : all) {
            Attempt<String> attempt = start(hand);
            assertThat(attempt).isSameAs(expected);
            complete(hand, attempt);
        }
    }

    @Test
    void suspectsThatWaitTakeNobodysRoom() {
        Hand<String> hand = hand(2, unlimited("a"));
        take(hand, claimed(hand, "a", 1));
        complete(hand, start(hand));
        List<WorkStore.Demand> before = hand.demands(false);
        take(hand, suspects(hand, "a", 31));
        assertThat(hand.demands(false)).isEqualTo(before);
        assertThat(hand.limit(before)).isEqualTo(10);
        take(hand, suspects(hand, "a", 1));
        assertThat(hand.demands(false)).as("the topic consists of suspects").isEmpty();
    }

    @Test
    void aSuspectThatHasWaitedHalfALeaseIsGivenBack() throws Exception {
        Hand<String> hand = hand(2, unlimited("a"), Duration.ofSeconds(1), Long.MAX_VALUE);
        List<Attempt<String>> suspects = take(hand, suspects(hand, "a", 3));
        start(hand);
        assertThat(hand.giveBack()).isEmpty();
        Thread.sleep(600);
        assertThat(hand.giveBack()).containsExactly(suspects.get(1), suspects.get(2));
    }

    @Test
    void aTopicInWhichNothingMovesTakesNothingMoreButTheOthersDo() throws Exception {
        Hand<String> hand = hand(4, unlimited("a", "b"), Duration.ofSeconds(1), Long.MAX_VALUE);
        List<Attempt<String>> hung = take(hand, claimed(hand, "a", 5));
        List<Attempt<String>> running = start(hand, 3);
        Thread.sleep(600);
        assertThat(hand.giveBack()).containsExactly(hung.get(3), hung.get(4));
        assertThat(demanded(hand)).containsExactly("b");
        finish(hand, running.get(0));
        assertThat(demanded(hand)).containsExactlyInAnyOrder("a", "b");
    }
}
