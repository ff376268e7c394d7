package dev.windlass.internal.dispatch;

import static dev.windlass.internal.dispatch.Hands.LEASE;
import static dev.windlass.internal.dispatch.Hands.claimed;
import static dev.windlass.internal.dispatch.Hands.demanded;
import static dev.windlass.internal.dispatch.Hands.finish;
import static dev.windlass.internal.dispatch.Hands.hand;
import static dev.windlass.internal.dispatch.Hands.start;
import static dev.windlass.internal.dispatch.Hands.suspects;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Circuit;
import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class HandTest {
    /** Topic a rests after one failure, topic b never does. */
    private static Hand<String> resting(Duration rest) {
        Handling.Handler<String> handler = (message, cancellation) -> {};
        Map<String, Handling<String>> handlings = new LinkedHashMap<>();
        handlings.put("a", new Handling<>(handler, HandlerOptions.defaults().withCircuit(new Circuit(1, rest))));
        handlings.put("b", new Handling<>(handler, HandlerOptions.defaults()));
        return new Hand<>(handlings, 16, 10, LEASE, Long.MAX_VALUE);
    }

    private static void fail(Hand<String> hand) {
        Attempt<String> attempt = start(hand);
        fail(hand, attempt);
        hand.settle(List.of(attempt));
    }

    private static void fail(Hand<String> hand, Attempt<String> attempt) {
        assertThat(hand.ended(attempt, attempt.end(), new Result.Failed(new IllegalStateException())))
                .isPresent();
    }

    private static boolean detach(Hand<String> hand, Attempt<String> attempt) {
        return hand.detach(attempt, new Result.Stopped()).isPresent();
    }

    @Test
    void claimsAtFirstNoMoreThanCanStartAtOnce() {
        Hand<String> hand = hand(5, Map.of("a", 3));
        List<WorkStore.Demand> demands = hand.demands(false);
        assertThat(demands).containsExactly(new WorkStore.Demand("a", 3, Position.START));
        assertThat(hand.limit(demands)).isEqualTo(3);
    }

    @Test
    void claimsForATopicNoMoreThanTheNodeCanStart() {
        Hand<String> hand = hand(2, Map.of("a", 16));
        assertThat(hand.demands(false)).containsExactly(new WorkStore.Demand("a", 2, Position.START));
    }

    @Test
    void claimsAheadOnceHandlersAreKnownToBeQuick() {
        Hand<String> hand = hand(5, Map.of("a", 3));
        List<Attempt<String>> first = claimed(hand, "a", 1);
        assertThat(hand.take(first, first).workers()).isEqualTo(1);
        finish(hand, start(hand));
        hand.settle(first);
        List<WorkStore.Demand> demands = hand.demands(false);
        assertThat(demands.get(0).places()).isEqualTo(33);
        assertThat(hand.limit(demands)).isEqualTo(10);
    }

    @Test
    void startsNoMoreThanTheLimitsOfTopicAndNode() {
        Hand<String> hand = hand(3, Map.of("a", 2, "b", 2));
        List<Attempt<String>> all = claimed(hand, "a", 5);
        all.addAll(claimed(hand, "b", 5));
        assertThat(hand.take(all, all).workers()).isEqualTo(3);
        List<Attempt<String>> running = List.of(start(hand), start(hand), start(hand));
        assertThat(running.stream().filter(attempt -> attempt.lane.topic.equals("a")))
                .hasSizeBetween(1, 2);
        assertThat(hand.settle(List.of())).isZero();
    }

    @Test
    void topicsTakeTurns() {
        Hand<String> hand = hand(1, Map.of("a", 1, "b", 1));
        assertThat(hand.demands(false).get(0).topic())
                .isNotEqualTo(hand.demands(false).get(0).topic());
    }

    @Test
    void aHandlerThatWasGivenUpMakesRoomAndItsOutcomeDoesNotCount() {
        Hand<String> hand = hand(1, Map.of("a", 1));
        List<Attempt<String>> all = claimed(hand, "a", 3);
        assertThat(hand.take(all, all).workers()).isEqualTo(1);
        Attempt<String> hung = start(hand);
        assertThat(detach(hand, all.get(1))).as("it does not run").isFalse();
        assertThat(detach(hand, hung)).isTrue();
        assertThat(detach(hand, hung)).isFalse();
        assertThat(hand.settle(List.of(hung))).isEqualTo(1);
        Attempt<String> second = start(hand);
        assertThat(detach(hand, second))
                .as("as many as can run at once, no more")
                .isFalse();
        assertThat(finish(hand, hung)).isFalse();
        assertThat(detach(hand, second)).isTrue();
    }

    @Test
    void aClosedHandGivesBackWhatWaitsTakesNothingAndGivesUpEverybody() throws Exception {
        Hand<String> hand = hand(1, Map.of("a", 1));
        List<Attempt<String>> all = claimed(hand, "a", 3);
        hand.take(all, all);
        Attempt<String> hung = start(hand);
        detach(hand, hung);
        hand.settle(List.of(hung));
        Attempt<String> second = start(hand);
        assertThat(hand.close()).containsExactly(all.get(2));
        assertThat(hand.demands(false)).isEmpty();
        List<Attempt<String>> late = claimed(hand, "a", 1);
        assertThat(hand.take(late, late)).isEqualTo(new Hand.Taken<>(0, late));
        assertThat(hand.awaitQuiet(Duration.ofMillis(1))).isFalse();
        assertThat(detach(hand, second)).isTrue();
        assertThat(hand.awaitQuiet(Duration.ofMillis(1))).isTrue();
    }

    @Test
    void aWorkerThatDidNotComeLeavesItsPlaceToAnother() {
        Hand<String> hand = hand(2, Map.of("a", 2));
        List<Attempt<String>> all = claimed(hand, "a", 2);
        assertThat(hand.take(all, all).workers()).isEqualTo(2);
        assertThat(hand.settle(List.of())).isZero();
        hand.dismiss(2);
        assertThat(hand.settle(List.of())).isEqualTo(2);
    }

    @Test
    void anInterruptReachesOnlyTheAttemptItIsMeantFor() {
        Hand<String> hand = hand(1, Map.of("a", 1));
        List<Attempt<String>> all = claimed(hand, "a", 2);
        hand.take(all, all);
        Attempt<String> first = start(hand);
        finish(hand, first);
        assertThat(first.cancel(Attempt.Reason.TIMED_OUT)).isFalse();
        assertThat(Thread.interrupted()).isFalse();
        Attempt<String> second = start(hand);
        assertThat(second.cancel(Attempt.Reason.TIMED_OUT)).isTrue();
        assertThat(second.cancel(Attempt.Reason.SHUTDOWN)).isFalse();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        finish(hand, second);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void aLaneThatRestsDemandsNothingAndGivesBackWhatWaits() {
        Hand<String> hand = resting(Duration.ofHours(1));
        List<Attempt<String>> all = claimed(hand, "a", 3);
        all.addAll(claimed(hand, "b", 1));
        hand.take(all, all);
        Attempt<String> failing = start(hand);
        Attempt<String> other = start(hand);
        assertThat(other.lane.topic).isEqualTo("b");
        fail(hand, failing);
        assertThat(hand.recall()).containsExactlyInAnyOrder(all.get(1), all.get(2));
        assertThat(hand.next()).isNull();
        hand.settle(all);
        assertThat(demanded(hand)).containsExactly("b");
        assertThat(hand.hasPlace("a")).isFalse();
        assertThat(hand.hasPlace("b")).isTrue();
        assertThat(hand.restEnds()).isPresent();
    }

    @Test
    void whatWasAskedForBeforeTheRestBeganIsGivenBackAtOnce() {
        Hand<String> hand = resting(Duration.ofHours(1));
        List<Attempt<String>> first = claimed(hand, "a", 1);
        hand.take(first, first);
        List<Attempt<String>> late = claimed(hand, "a", 2);
        List<Attempt<String>> suspect = suspects(hand, "a", 1);
        late.addAll(suspect);
        fail(hand);
        Hand.Taken<String> taken = hand.take(late, late);
        assertThat(taken.workers()).isZero();
        assertThat(taken.back()).containsExactlyInAnyOrderElementsOf(late);
        hand.settle(late);
        assertThat(demanded(hand)).as("the suspect waits no more").containsExactly("b");
    }

    @Test
    void aLaneAtRestDoesNotMakeAClaimLookFull() {
        Hand<String> hand = resting(Duration.ofHours(1));
        List<Attempt<String>> first = claimed(hand, "a", 1);
        hand.take(first, first);
        fail(hand);
        assertThat(hand.isFull(hand.demands(false), List.of())).isFalse();
    }

    @Test
    void whenTheRestIsOverOneMessageIsClaimedAndStartedAtATime() {
        Hand<String> hand = resting(Duration.ofNanos(1));
        List<Attempt<String>> first = claimed(hand, "a", 1);
        hand.take(first, first);
        fail(hand);
        assertThat(hand.restEnds()).isEmpty();
        assertThat(hand.demands(false)).contains(new WorkStore.Demand("a", 1, Position.START));
        List<Attempt<String>> surplus = claimed(hand, "a", 3);
        Hand.Taken<String> taken = hand.take(surplus, surplus);
        assertThat(taken.back()).containsExactlyInAnyOrder(surplus.get(1), surplus.get(2));
        assertThat(demanded(hand)).as("a probe waits").containsExactly("b");
        Attempt<String> probe = start(hand);
        assertThat(probe).isSameAs(surplus.get(0));
        assertThat(demanded(hand)).as("a probe runs").containsExactly("b");
        assertThat(hand.isFull(hand.demands(false), List.of()))
                .as("there is more to do once it has ended")
                .isTrue();
        finish(hand, probe);
        hand.settle(surplus);
        assertThat(hand.demands(false)).anyMatch(demand -> demand.topic().equals("a") && demand.places() > 1);
        assertThat(hand.hasPlace("a")).isTrue();
    }

    /** As if a claim had asked for all topics and found these. */
    private static void found(Hand<String> hand, List<Attempt<String>> attempts) {
        List<WorkStore.Demand> demands = hand.demands(false);
        boolean cut = attempts.size() >= hand.limit(demands);
        hand.advanceBounds(demands, attempts.stream().map(each -> each.claimed).toList(), cut);
        hand.take(attempts, attempts);
    }

    @Test
    void theNextOfAKeyIsTakenOnlyOfTopicsThatHadNothingElseReady() {
        Hand<String> hand = hand(5, Map.of("a", 3, "b", 3));
        assertThat(hand.takes(1)).isEmpty();
        found(hand, claimed(hand, "a", 3));
        assertThat(hand.takes(1)).containsExactly("b");
        found(hand, List.of());
        assertThat(hand.takes(1)).containsExactly("b");
    }

    @Test
    void theNextOfAKeyIsNotTakenOnceTheTopicWasNotAskedFor() {
        Hand<String> hand = hand(5, Map.of("a", 3));
        found(hand, List.of());
        List<Attempt<String>> all = claimed(hand, "a", 3);
        hand.take(all, all);
        assertThat(hand.demands(false)).isEmpty();
        Attempt<String> ended = start(hand);
        finish(hand, ended);
        hand.settle(List.of(ended));
        assertThat(hand.takes(1)).isEmpty();
        found(hand, List.of());
        assertThat(hand.takes(1)).containsExactly("a");
    }

    @Test
    void theNextOfAKeyIsNotTakenBeyondThePlacesOfItsTopic() {
        Hand<String> hand = hand(5, Map.of("a", 3));
        found(hand, List.of());
        assertThat(hand.takes(3)).containsExactly("a");
        assertThat(hand.takes(4)).isEmpty();
    }

    @Test
    void theNextOfAKeyIsNotTakenWhileThereIsNoRoomForAClaim() {
        Hand<String> hand = hand(5, Map.of("a", 3));
        List<Attempt<String>> first = claimed(hand, "a", 1);
        found(hand, first);
        finish(hand, start(hand));
        hand.settle(first);
        List<Attempt<String>> some = claimed(hand, "a", 25);
        hand.take(some, List.of());
        assertThat(hand.takes(1)).containsExactly("a");
        hand.take(claimed(hand, "a", 1), List.of());
        assertThat(hand.takes(1)).isEmpty();
    }

    @Test
    void theNextOfAKeyIsNotTakenByWhoPausesOrCloses() {
        Hand<String> hand = hand(5, Map.of("a", 3));
        found(hand, List.of());
        hand.decide(new WorkStore.Decided(Set.of("a"), Set.of()));
        assertThat(hand.takes(1)).isEmpty();
        hand.decide(new WorkStore.Decided(Set.of(), Set.of()));
        assertThat(hand.takes(1)).containsExactly("a");
        hand.close();
        assertThat(hand.takes(1)).isEmpty();
    }
}
