package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.Topic;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Page;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.TimerOperator;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@OnEveryEngine
final class ScheduleTimerConformance extends TimerConformance {

    @Test
    void aTimerIsStoredAsItWasWritten() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("reminder", "{\"n\": 1}", FAR)
                .replacing("order-7")
                .withCorrelationId("c")
                .withHeaders(Map.of("trace", "t\"1")));

        Timer timer = timers.find(id).orElseThrow();
        assertThat(timer.id()).isEqualTo(id);
        assertThat(timer.topic()).isEqualTo("reminder");
        assertThat(timer.payload()).isEqualTo("{\"n\": 1}");
        assertThat(timer.dueTime()).isEqualTo(FAR);
        assertThat(timer.nextAttempt()).isEqualTo(FAR);
        assertThat(timer.key()).contains("order-7");
        assertThat(timer.correlationId()).contains("c");
        assertThat(timer.headers()).isEqualTo(Map.of("trace", "t\"1"));
        assertThat(timer.status()).isEqualTo(WorkStatus.READY);
        assertThat(timer.retryCount()).isZero();
        assertThat(timer.lastError()).isEmpty();
        assertThat(timers.find("reminder", "order-7")).contains(timer);
        assertThat(timers.find("other", "order-7")).isEmpty();
    }

    @Test
    void aDelayCountsFromTheDatabasesNow() {
        Instant before = database().now();
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", LATER));
        Instant after = database().now();

        assertThat(timers.find(id).orElseThrow().dueTime()).isBetween(before.plus(LATER), after.plus(LATER));
    }

    @Test
    void aTimerInTheCallersTransactionExistsIfItIsCommitted() throws SQLException {
        try (Connection connection = database().transaction()) {
            TimerIdentifier first = timers.schedule(connection, TimerEntry.of("a", "", LATER));
            assertThat(timers.find(first)).isEmpty();
            connection.commit();
            assertThat(timers.find(first)).isPresent();

            TimerIdentifier second = timers.schedule(connection, TimerEntry.of("a", "", LATER));
            connection.rollback();
            assertThat(timers.find(second)).isEmpty();
        }
    }

    @Test
    void manyTimersAreWrittenAtOnceInTheirOrder() {
        List<TimerEntry> entries = IntStream.range(0, 500)
                .mapToObj(n -> n % 2 == 0
                        ? TimerEntry.of("a", "p" + n, FAR.plusSeconds(n))
                        : TimerEntry.of("a", "p" + n, LATER).ifAbsent("k" + n % 100))
                .toList();

        List<TimerIdentifier> ids = timers.scheduleAll(entries);

        assertThat(count("outbox_timer")).isEqualTo(250 + 50);
        for (int n = 0; n < 500; n += 2) {
            assertThat(timers.find(ids.get(n)).orElseThrow().payload()).isEqualTo("p" + n);
        }
        assertThat(ids.get(103)).isEqualTo(ids.get(3));
        assertThat(timers.find(ids.get(303)).orElseThrow().payload()).isEqualTo("p3");
        assertThat(timers.scheduleAll(List.of())).isEmpty();
    }

    @Test
    void manyTimersInTheCallersTransactionComeAndGoTogether() throws SQLException {
        List<TimerEntry> entries = List.of(TimerEntry.of("a", "", LATER), TimerEntry.of("b", "", LATER));
        try (Connection connection = database().transaction()) {
            timers.scheduleAll(connection, entries);
            connection.rollback();
            assertThat(count("outbox_timer")).isZero();
            timers.scheduleAll(connection, entries);
            connection.commit();
            assertThat(count("outbox_timer")).isEqualTo(2);
        }
    }

    @Test
    void aSecondTimerOfAKeyReplacesTheFirstAndKeepsItsIdentifier() {
        TimerIdentifier first = timers.schedule(TimerEntry.of("a", "one", FAR)
                .replacing("k")
                .withCorrelationId("c")
                .withHeaders(Map.of("h", "1")));
        TimerIdentifier second =
                timers.schedule(TimerEntry.of("a", "two", FAR.minusSeconds(60)).replacing("k"));
        TimerIdentifier otherTopic =
                timers.schedule(TimerEntry.of("b", "three", FAR).replacing("k"));

        assertThat(second).isEqualTo(first);
        assertThat(otherTopic).isNotEqualTo(first);
        Timer timer = timers.find(first).orElseThrow();
        assertThat(timer.payload()).isEqualTo("two");
        assertThat(timer.dueTime()).isEqualTo(FAR.minusSeconds(60));
        assertThat(timer.nextAttempt()).isEqualTo(FAR.minusSeconds(60));
        assertThat(timer.correlationId()).isEmpty();
        assertThat(timer.headers()).isEmpty();
    }

    @Test
    void aTimerThatIsOnlyWantedIfAbsentLeavesTheOtherAsItIs() {
        TimerIdentifier first = timers.schedule(TimerEntry.of("a", "one", FAR).ifAbsent("k"));
        TimerIdentifier second =
                timers.schedule(TimerEntry.of("a", "two", LATER).ifAbsent("k"));

        assertThat(second).isEqualTo(first);
        assertThat(timers.find(first).orElseThrow().payload()).isEqualTo("one");
        assertThat(timers.find(first).orElseThrow().dueTime()).isEqualTo(FAR);
    }

    @Test
    void aKeyIsFreeAgainWhenItsTimerIsDoneOrCancelled() {
        TimerIdentifier first = timers.schedule(TimerEntry.of("a", "", PAST).ifAbsent("k"));
        assertThat(handOff(10)).isEqualTo(1);
        TimerIdentifier second = timers.schedule(TimerEntry.of("a", "", FAR).ifAbsent("k"));
        assertThat(second).isNotEqualTo(first);
        assertThat(timers.cancel("a", "k")).isTrue();
        assertThat(timers.schedule(TimerEntry.of("a", "", FAR).ifAbsent("k"))).isNotEqualTo(second);
    }

    @Test
    void aCancelledTimerIsGone() throws SQLException {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        assertThat(timers.cancel(id)).isTrue();
        assertThat(timers.cancel(id)).isFalse();
        assertThat(timers.find(id)).isEmpty();
        assertThat(handOff(10)).isZero();

        timers.schedule(TimerEntry.of("a", "", FAR).replacing("k"));
        try (Connection connection = database().transaction()) {
            assertThat(timers.cancel(connection, "a", "k")).isTrue();
            assertThat(timers.cancel(connection, "a", "other")).isFalse();
            connection.rollback();
        }
        assertThat(timers.cancel("b", "k")).isFalse();
        assertThat(timers.cancel("a", "k")).isTrue();
    }

    @Test
    void aTimerThatBecameAMessageCanNoMoreBeChanged() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", PAST));
        handOff(10);
        assertThat(timers.cancel(id)).isFalse();
        assertThat(timers.reschedule(id, FAR)).isFalse();
    }

    @Test
    void aRescheduledTimerIsDueAtItsNewTime() throws SQLException {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", FAR));
        try (Connection connection = database().transaction()) {
            assertThat(timers.reschedule(connection, id, PAST)).isTrue();
            assertThat(handOff(10)).isZero();
            connection.commit();
        }
        assertThat(timers.find(id).orElseThrow().dueTime()).isEqualTo(PAST);
        assertThat(timers.reschedule(id, FAR)).isTrue();
        assertThat(handOff(10)).isZero();
        assertThat(timers.reschedule(id, PAST)).isTrue();
        assertThat(handOff(10)).isEqualTo(1);
        assertThat(timers.reschedule(new TimerIdentifier(new java.util.UUID(1, 1)), FAR))
                .isFalse();
    }

    @Test
    void aTimerIsMovedByADistanceFromTheDatabasesNow() throws SQLException {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", FAR));
        Instant before = database().now();
        assertThat(timers.reschedule(id, LATER)).isTrue();
        assertThat(timers.find(id).orElseThrow().dueTime())
                .isBetween(before.plus(LATER), database().now().plus(LATER));
        try (Connection connection = database().transaction()) {
            assertThat(timers.reschedule(connection, id, Duration.ZERO)).isTrue();
            connection.commit();
        }
        assertThat(handOff(10)).isEqualTo(1);
    }

    record Order(int number) {}

    @Test
    void aTypedTopicsPayloadIsEncoded() {
        Topic<Order> topic = Topic.of("a", Order.class);
        timers.schedule(timers.entry(topic, new Order(1), Duration.ZERO));
        TimerIdentifier id = timers.schedule(timers.entry(topic, new Order(2), FAR));
        assertThat(timers.find(id).orElseThrow().payload()).isEqualTo("{\"number\":2}");
        assertThat(handOff(10)).isEqualTo(1);
        assertThat(database().value(String.class, "select payload from %s.outbox"))
                .isEqualTo("{\"number\":1}");
    }

    @Test
    void timersAreListedByTopicInPages() {
        for (int n = 0; n < 5; n++) {
            timers.schedule(TimerEntry.of("a", "secret", FAR.plusSeconds(n)).replacing("k" + n));
            timers.schedule(TimerEntry.of("b", "", FAR.plusSeconds(n)));
        }
        TimerOperator operator = timers.operator("me");
        MessageFilter filter = MessageFilter.all().withStatus(WorkStatus.READY).withTopic("a");
        Page<ListedTimer> first = operator.list(filter, 3);
        List<ListedTimer> second = operator.list(filter, 3, first.next().orElseThrow());

        assertThat(first).extracting(timer -> timer.key().orElseThrow()).containsExactly("k0", "k1", "k2");
        assertThat(second).extracting(timer -> timer.key().orElseThrow()).containsExactly("k3", "k4");
        assertThat(first).extracting(ListedTimer::dueTime).startsWith(FAR, FAR.plusSeconds(1));
        assertThat(operator.list(filter.withTopic("none"), 3)).isEmpty();
        assertThat(operator.list(filter.withFrom(FAR.plusSeconds(4)), 3)).hasSize(1);
    }

    @Test
    void readyTimersOfAllTopicsAreListedTheNextDueFirstAndTimersOfAllStatesTheLatestFirst() {
        for (int n = 0; n < 6; n++) {
            timers.schedule(TimerEntry.of("topic " + n % 3, "secret", FAR.plusSeconds(n))
                    .replacing("k" + n));
        }
        assertThat(keys(MessageFilter.all().withStatus(WorkStatus.READY)))
                .containsExactly("k0", "k1", "k2", "k3", "k4", "k5");
        assertThat(keys(MessageFilter.all())).containsExactly("k5", "k4", "k3", "k2", "k1", "k0");
    }

    /** Page by page. */
    private List<String> keys(MessageFilter filter) {
        List<String> keys = new ArrayList<>();
        Page<ListedTimer> page = timers.operator("me").list(filter, 4);
        page.forEach(timer -> keys.add(timer.key().orElseThrow()));
        while (page.next().isPresent()) {
            page = timers.operator("me").list(filter, 4, page.next().orElseThrow());
            page.forEach(timer -> keys.add(timer.key().orElseThrow()));
        }
        return keys;
    }

    @Test
    void aDueTimerBecomesAMessageWithItsOwnIdentifier() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "payload", PAST)
                .withHeaders(Map.of("h", "1"))
                .withCorrelationId("mine"));
        TimerIdentifier other = timers.schedule(TimerEntry.of("b", "", Duration.ZERO));
        timers.schedule(TimerEntry.of("a", "", FAR));

        TimerStore.HandedOff done = handOffResult(10);

        assertThat(done.count()).isEqualTo(2);
        assertThat(done.topics()).containsExactlyInAnyOrder("a", "b");
        assertThat(done.nextDue()).contains(Duration.ofDays(1));
        assertThat(timers.find(id)).isEmpty();
        OutboxMessage message =
                writer.outbox().find(new OutboxMessageIdentifier(id.value())).orElseThrow();
        assertThat(message.topic()).isEqualTo("a");
        assertThat(message.payload()).isEqualTo("payload");
        assertThat(message.headers()).isEqualTo(Map.of("h", "1"));
        assertThat(message.correlationId()).contains("mine");
        assertThat(message.dueTime()).contains(PAST);
        assertThat(writer.outbox()
                        .find(new OutboxMessageIdentifier(other.value()))
                        .orElseThrow()
                        .correlationId())
                .contains("timer-" + other.value());
        assertThat(handOff(10)).isZero();
    }

    @Test
    void timersBecomeMessagesInTheOrderOfTheirDueTimesInBatches() {
        for (int n = 9; n >= 0; n--) {
            TimerIdentifier id = timers.schedule(TimerEntry.of("a", "p" + n, Duration.ZERO));
            database()
                    .update(
                            "update %s.outbox_timer set next_attempt_at = ? where id = ?",
                            PAST.minusSeconds(n), id.value());
        }
        assertThat(handOff(4)).isEqualTo(4);
        assertThat(payloads()).containsExactly("p6", "p7", "p8", "p9");
        assertThat(handOff(100)).isEqualTo(6);
        assertThat(handOff(100)).isZero();
    }

    @Test
    void aTimerThatCannotBecomeAMessageWaitsWithTheReasonAndTheOthersGoOn() {
        database().update("alter table %s.outbox add constraint refusal check (payload <> 'refused')");
        try {
            TimerIdentifier bad = timers.schedule(TimerEntry.of("a", "refused", PAST));
            timers.schedule(TimerEntry.of("a", "fine", PAST));
            timers.schedule(TimerEntry.of("b", "fine", PAST));

            handOff(10);

            assertThat(count("outbox")).isEqualTo(2);
            Timer timer = timers.find(bad).orElseThrow();
            assertThat(timer.retryCount()).isEqualTo(1);
            assertThat(timer.lastError().orElseThrow()).contains("refusal");
            assertThat(timer.nextAttempt()).isAfter(database().now().minusSeconds(60));
            assertThat(handOff(10)).isZero();
        } finally {
            database().update("alter table %s.outbox drop constraint refusal");
        }
    }

    @Test
    void aTimerThatIsWrittenOnceMoreAfterItBecameAMessageIsDone() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "one", PAST));
        handOff(10);
        database()
                .routines()
                .retrying(
                        "schedule",
                        connection -> store().schedule(connection, id.value(), TimerEntry.of("a", "two", PAST), false));
        timers.schedule(TimerEntry.of("a", "three", PAST));

        handOff(10);

        assertThat(timers.find(id)).isEmpty();
        assertThat(payloads()).containsExactly("one", "three");
    }

    private List<String> payloads() {
        return database().rows("select payload from %s.outbox order by payload");
    }
}
