package dev.windlass.internal.dispatch;

import static dev.windlass.internal.dispatch.TestNode.node;
import static dev.windlass.internal.dispatch.TestNode.resting;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class InHandTest {
    private static boolean detach(TestNode node, Attempt<String> attempt) {
        return node.inHand.detach(attempt, new Result.Stopped()).isPresent();
    }

    @Test
    void startsNoMoreThanTheLimitsOfTopicAndNode() {
        TestNode node = node(3, Map.of("a", 2, "b", 2));
        List<Attempt<String>> all = node.claimed("a", 5);
        all.addAll(node.claimed("b", 5));
        assertThat(node.inHand.take(all, all).workers()).isEqualTo(3);
        List<Attempt<String>> running = List.of(node.start(), node.start(), node.start());
        assertThat(running.stream().filter(attempt -> attempt.lane.topic.equals("a")))
                .hasSizeBetween(1, 2);
        assertThat(node.inHand.settle(List.of())).isZero();
    }

    @Test
    void aHandlerThatWasGivenUpMakesRoomAndItsOutcomeDoesNotCount() {
        TestNode node = node(1, Map.of("a", 1));
        List<Attempt<String>> all = node.claimed("a", 3);
        assertThat(node.inHand.take(all, all).workers()).isEqualTo(1);
        Attempt<String> hung = node.start();
        assertThat(detach(node, all.get(1))).as("it does not run").isFalse();
        assertThat(detach(node, hung)).isTrue();
        assertThat(detach(node, hung)).isFalse();
        assertThat(node.inHand.settle(List.of(hung))).isEqualTo(1);
        Attempt<String> second = node.start();
        assertThat(detach(node, second))
                .as("as many as can run at once, no more")
                .isFalse();
        assertThat(node.finish(hung)).isFalse();
        assertThat(detach(node, second)).isTrue();
    }

    @Test
    void aClosedNodeGivesBackWhatWaitsTakesNothingAndGivesUpEverybody() throws Exception {
        TestNode node = node(1, Map.of("a", 1));
        List<Attempt<String>> all = node.claimed("a", 3);
        node.inHand.take(all, all);
        Attempt<String> hung = node.start();
        detach(node, hung);
        node.inHand.settle(List.of(hung));
        Attempt<String> second = node.start();
        assertThat(node.inHand.close()).containsExactly(all.get(2));
        assertThat(node.ask().demands()).isEmpty();
        List<Attempt<String>> late = node.claimed("a", 1);
        assertThat(node.inHand.take(late, late)).isEqualTo(new InHand.Taken<>(0, late));
        assertThat(node.inHand.awaitQuiet(Duration.ofMillis(1))).isFalse();
        assertThat(detach(node, second)).isTrue();
        assertThat(node.inHand.awaitQuiet(Duration.ofMillis(1))).isTrue();
    }

    @Test
    void aWorkerThatDidNotComeLeavesItsPlaceToAnother() {
        TestNode node = node(2, Map.of("a", 2));
        List<Attempt<String>> all = node.claimed("a", 2);
        assertThat(node.inHand.take(all, all).workers()).isEqualTo(2);
        assertThat(node.inHand.settle(List.of())).isZero();
        node.inHand.dismiss(2);
        assertThat(node.inHand.settle(List.of())).isEqualTo(2);
    }

    @Test
    void anInterruptReachesOnlyTheAttemptItIsMeantFor() {
        TestNode node = node(1, Map.of("a", 1));
        List<Attempt<String>> all = node.claimed("a", 2);
        node.inHand.take(all, all);
        Attempt<String> first = node.start();
        node.finish(first);
        assertThat(first.cancel(Attempt.Reason.TIMED_OUT)).isFalse();
        assertThat(Thread.interrupted()).isFalse();
        Attempt<String> second = node.start();
        assertThat(second.cancel(Attempt.Reason.TIMED_OUT)).isTrue();
        assertThat(second.cancel(Attempt.Reason.SHUTDOWN)).isFalse();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        node.finish(second);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void whatWasAskedForBeforeTheRestBeganIsGivenBackAtOnce() {
        TestNode node = resting(Duration.ofHours(1));
        List<Attempt<String>> first = node.claimed("a", 1);
        node.inHand.take(first, first);
        List<Attempt<String>> late = node.claimed("a", 2);
        List<Attempt<String>> suspect = node.suspects("a", 1);
        late.addAll(suspect);
        node.fail();
        InHand.Taken<String> taken = node.inHand.take(late, late);
        assertThat(taken.workers()).isZero();
        assertThat(taken.back()).containsExactlyInAnyOrderElementsOf(late);
        node.inHand.settle(late);
        assertThat(node.demanded()).as("the suspect waits no more").containsExactly("b");
    }

    @Test
    void whatWasReadyBeforeStartsFirstThoughItCameLater() {
        TestNode node = node(1, Map.of("a", 1));
        List<Attempt<String>> claimed = node.take(node.claimed("a", 3)); // ready in seconds 0, 1 and 2
        Attempt<String> kept = node.inHand.attempt(TestNode.message("a", 1, 0, 0, 1), Long.MAX_VALUE);
        node.take(List.of(kept));

        assertThat(node.start()).isSameAs(claimed.get(0));
        node.complete(claimed.get(0));
        List<Attempt<String>> next = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            next.add(node.start());
            node.complete(next.get(i));
        }
        assertThat(next.get(2)).isSameAs(claimed.get(2));
    }
}
