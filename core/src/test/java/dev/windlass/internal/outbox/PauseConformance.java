package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore.Demand;
import dev.windlass.operator.OperatorAction;
import dev.windlass.operator.PausedTopic;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A paused topic is not claimed by anybody. */
@OnEveryEngine
final class PauseConformance extends OutboxConformance {
    private final OwnerToken owner = OwnerToken.fresh();
    private OutboxOperator anna;

    @BeforeEach
    void signIn() {
        anna = outbox.operator("anna");
    }

    @Test
    void claimsLeaveAPausedTopicAloneAndTakeTheOthers() {
        enqueue("a", 3);
        OutboxMessageIdentifier other = enqueue("b");

        assertThat(anna.pause("a", "the supplier is down")).isTrue();
        assertThat(claim(owner, 10)).containsExactly(workItem(other));

        assertThat(anna.resume("a")).isTrue();
        assertThat(claim(owner, 10)).hasSize(3);
    }

    @Test
    void aNodeThatAsksForAPausedTopicGetsNothingOfIt() throws SQLException {
        enqueue("a", 3);
        enqueue("b", 2);
        anna.pause("a", "");

        try (Connection connection = database().connect()) {
            assertThat(store(LEASE).claim(connection, owner.value(), LEASE, 10, Long.MAX_VALUE, demands("a", "b")))
                    .extracting(claimed -> claimed.readable().topic())
                    .containsExactly("b", "b");
            assertThat(store(LEASE).claim(connection, owner.value(), LEASE, 10, Long.MAX_VALUE, demands("a")))
                    .isEmpty();
        }
    }

    @Test
    void aPausedTopicHasNoNextDueTime() throws SQLException {
        enqueue("a");
        outbox.enqueue(OutboxEntry.of("b", "").withDelay(Duration.ofHours(1)));
        assertThat(nextDue("a", "b").orElseThrow()).isLessThanOrEqualTo(Duration.ZERO);

        anna.pause("a", "");
        assertThat(nextDue("a")).isEmpty();
        assertThat(nextDue("a", "b").orElseThrow()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));

        anna.resume("a");
        assertThat(nextDue("a").orElseThrow()).isLessThanOrEqualTo(Duration.ZERO);
    }

    private Optional<Duration> nextDue(String... topics) throws SQLException {
        try (Connection connection = database().connect()) {
            return store(LEASE).nextDue(connection, demands(topics));
        }
    }

    private static List<Demand> demands(String... topics) {
        return List.of(topics).stream()
                .map(topic -> new Demand(topic, 10, Position.START))
                .toList();
    }

    @Test
    void whatIsInHandCanBeCompletedAndNewMessagesCanBeWritten() {
        OutboxWorkItemIdentifier held = claimed(owner);
        anna.pause("topic", "");

        enqueue("topic");
        assertThat(outbox.heartbeat(owner, List.of(held), LEASE)).isEqualTo(1);
        assertThat(outbox.ack(owner, List.of(held))).isEqualTo(1);
        assertThat(claim(owner, 10)).isEmpty();
    }

    @Test
    void pausedTopicsAreListedWithWhoWhenAndWhy() {
        Instant before = database().now();
        anna.pause("b", "the supplier is down");
        outbox.operator("bert").pause("a", "");

        List<PausedTopic> paused = anna.pausedTopics();

        assertThat(paused).extracting(PausedTopic::topic).containsExactly("a", "b");
        assertThat(paused).extracting(PausedTopic::by).containsExactly("bert", "anna");
        assertThat(paused.get(1).reason()).contains("the supplier is down");
        assertThat(paused)
                .allSatisfy(topic ->
                        assertThat(topic.since()).isBetween(before, database().now()));
    }

    @Test
    void aSecondPauseChangesAndRecordsNothing() {
        anna.pause("a", "first");
        List<PausedTopic> paused = anna.pausedTopics();

        assertThat(outbox.operator("bert").pause("a", "second")).isFalse();

        assertThat(anna.pausedTopics()).isEqualTo(paused);
        assertThat(anna.actions(10)).hasSize(1);
    }

    @Test
    void resumingWhatIsNotPausedChangesAndRecordsNothing() {
        assertThat(anna.resume("a")).isFalse();
        assertThat(anna.actions(10)).isEmpty();
    }

    @Test
    void pauseAndResumeAreRecorded() {
        anna.pause("a", "the supplier is down");
        outbox.operator("bert").resume("a");

        List<OperatorAction> actions = anna.actions(10);
        assertThat(actions).extracting(OperatorAction::verb).containsExactly("resume", "pause");
        assertThat(actions).extracting(OperatorAction::by).containsExactly("bert", "anna");
        assertThat(actions).extracting(OperatorAction::messages).containsOnly(0);
        assertThat(actions.get(1).detail()).contains("\"a\"", "the supplier is down");
    }

    @Test
    void ofManyPausesAndResumesAtOnceEachTakesEffectOnce() throws Exception {
        for (int round = 0; round < 10; round++) {
            assertThat(RaceConformance.race(() -> anna.pause("a", ""))).containsOnlyOnce(true);
            assertThat(RaceConformance.race(() -> anna.resume("a"))).containsOnlyOnce(true);
        }
        assertThat(anna.actions(100)).hasSize(20);
    }

    @Test
    void topicsAreComparedExactly() {
        OutboxMessageIdentifier id = enqueue("Topic");
        anna.pause("topic", "");
        anna.pause("%", "");

        assertThat(claim(owner, 10)).containsExactly(workItem(id));
    }
}
