package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOperator;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Limits over all nodes: how many run at once, how many of one key, and how many begin within a time. */
@OnEveryEngine
class LimitConformance extends WorkConformance {
    private static final int RACERS = 32;

    private void limit(TopicLimit limit) {
        work.operator("anna").limit("queue", limit);
    }

    private void enqueue(int count) {
        work.enqueueAll(
                IntStream.range(0, count).mapToObj(i -> item("item " + i)).toList());
    }

    private long running() {
        return database()
                .value(
                        Long.class,
                        "select count(*) from %s.work where status = 1 and locked_until > ?",
                        database().now());
    }

    @Test
    void noMoreThanTheLimitRunAtOnceAndWhatEndsMakesRoom() {
        enqueue(10);
        limit(TopicLimit.none().withRunning(3));

        OwnerToken owner = OwnerToken.fresh();
        List<WorkItem> first = claim(owner, 10);
        assertThat(first).hasSize(3);
        assertThat(claim(10)).isEmpty();

        work.ack(owner, ids(first.subList(0, 1)));
        work.abandon(owner, ids(first.subList(1, 2)), Duration.ofHours(1), "later");
        assertThat(claim(10)).hasSize(2);
    }

    @Test
    void leasesThatRanOutDoNotCount() {
        enqueue(10);
        limit(TopicLimit.none().withRunning(3));
        assertThat(claim(10)).hasSize(3);

        expireLeases();

        assertThat(claim(10)).hasSize(3);
    }

    @Test
    void aLeaseThatRanOutIsNotRenewedOnceSomebodyHasTakenItsPlace() {
        enqueue(2);
        limit(TopicLimit.none().withRunning(1));
        OwnerToken late = OwnerToken.fresh();
        WorkItem lost = claim(late, 1).get(0);
        expireLeases();

        assertThat(claim(1)).hasSize(1);
        assertThat(work.heartbeat(late, List.of(lost.id()), LEASE)).isZero();
        assertThat(running()).isEqualTo(1);
    }

    @Test
    void whatIsBeingRenewedAtThisMomentCountsAlthoughItLooksExpired() throws SQLException {
        enqueue(2);
        limit(TopicLimit.none().withRunning(1));
        WorkItem renewed = claim(OwnerToken.fresh(), 1).get(0);
        expireLeases();

        try (Connection renewal = database().transaction()) {
            String later = database().plus("claimed_at", Duration.ofHours(1));
            database()
                    .update(
                            renewal,
                            "update %s.work set locked_until = " + later + " where id = ?",
                            renewed.id().value());
            assertThat(claim(2)).isEmpty();
            renewal.commit();
        }
        assertThat(claim(2)).isEmpty();
        assertThat(running()).isEqualTo(1);
    }

    @Test
    void aLimitCanBeRaisedLoweredAndLiftedWhileWorkIsDone() {
        enqueue(20);
        limit(TopicLimit.none().withRunning(2));
        assertThat(claim(20)).hasSize(2);
        limit(TopicLimit.none().withRunning(5));
        assertThat(claim(20)).hasSize(3);
        limit(TopicLimit.none().withRunning(1));
        assertThat(claim(20)).isEmpty();
        limit(TopicLimit.none());
        assertThat(claim(20)).hasSize(15);
    }

    @Test
    void ofOneKeyNoMoreThanItsLimitRunAtOnceAndOtherKeysDoNotWaitForIt() {
        List<WorkEntry> entries = new ArrayList<>();
        IntStream.range(0, 50).forEach(i -> entries.add(item("greedy").withKey("greedy")));
        IntStream.range(0, 3).forEach(i -> entries.add(item("modest").withKey("modest")));
        work.enqueueAll(entries);
        limit(TopicLimit.none().withPerKey(2));

        OwnerToken owner = OwnerToken.fresh();
        List<WorkItem> first = claim(owner, 50);
        assertThat(payloads(first)).containsExactlyInAnyOrder("greedy", "greedy", "modest", "modest");
        assertThat(claim(50)).isEmpty();

        work.ack(owner, ids(first));
        assertThat(claim(50)).containsExactlyInAnyOrder("greedy", "greedy", "modest");
    }

    @Test
    void bothLimitsHoldTogether() {
        work.enqueueAll(IntStream.range(0, 60)
                .mapToObj(i -> item("item " + i).withKey("key " + i % 6))
                .toList());
        limit(TopicLimit.none().withRunning(5).withPerKey(2));

        List<WorkItem> claimed = claim(OwnerToken.fresh(), 60);

        assertThat(claimed).hasSize(5);
        assertThat(claimed.stream()
                        .collect(Collectors.groupingBy(item -> item.key().orElseThrow())))
                .allSatisfy((key, items) -> assertThat(items).hasSizeLessThanOrEqualTo(2));
    }

    @Test
    void noMoreThanTheRateBeginWithinItsPeriod() {
        enqueue(10);
        limit(TopicLimit.none().withRate(4, Duration.ofHours(1)));

        OwnerToken owner = OwnerToken.fresh();
        List<WorkItem> begun = claim(owner, 3);
        work.ack(owner, ids(begun));
        assertThat(claim(10)).hasSize(1);
        assertThat(claim(10)).isEmpty();

        String earlier = database().plus("started_at", Duration.ofMinutes(-61));
        database().update("update %s.windlass_start set started_at = " + earlier + " where messages = 3");
        assertThat(claim(10)).hasSize(3);
        assertThat(claim(10)).isEmpty();
    }

    @Test
    void inNoPeriodMoreBeginThanTheRateSaysHoweverManyTry() throws Exception {
        int rate = 5;
        Duration period = Duration.ofMillis(120);
        enqueue(60);
        limit(TopicLimit.none().withRate(rate, period));
        List<Instant> begun = Collections.synchronizedList(new ArrayList<>());
        together(Collections.nCopies(8, () -> {
            while (begun.size() < 30) {
                OwnerToken owner = OwnerToken.fresh();
                List<WorkItem> items = claim(owner, 2);
                items.forEach(item -> begun.add(item.startedAt().orElseThrow()));
                work.ack(owner, ids(items));
            }
            return true;
        }));

        List<Instant> sorted = begun.stream().sorted().toList();
        for (int i = rate; i < sorted.size(); i++) {
            assertThat(Duration.between(sorted.get(i - rate), sorted.get(i))).isGreaterThanOrEqualTo(period);
        }
    }

    @Test
    void theLimitsAreExactUnderManyWhoClaimAtOnceAndDie() throws Exception {
        LimitRace race = new LimitRace(database(), work, 300);

        together(race.racers(RACERS));

        assertThat(race.violations()).isEmpty();
        assertThat(race.looks()).isPositive();
    }

    @Test
    void aLimitThatSomebodyHoldsKeepsOtherQueuesFromNothing() throws SQLException {
        enqueue(3);
        limit(TopicLimit.none().withRunning(2));
        work.enqueue(WorkEntry.of("other", "type", "free"));
        try (Connection holder = database().transaction()) {
            database().lock(holder, "windlass_topic", "topic = 'queue'");

            assertThat(payloads(work.claim(OwnerToken.fresh(), LEASE, 10))).containsExactly("free");
            holder.rollback();
        }
        assertThat(claim(10)).hasSize(2);
    }

    @Test
    void whatALimitHoldsBackTakesNoPlaceOfItemsWithKeysInOtherQueues() {
        enqueue(3);
        limit(TopicLimit.none().withRunning(1));
        assertThat(claim(10)).hasSize(1);
        work.enqueueAll(IntStream.range(0, 20)
                .mapToObj(i -> WorkEntry.of("other", "type", "keyed").withKey("key " + i))
                .toList());

        assertThat(work.claim(OwnerToken.fresh(), LEASE, 20)).hasSize(20);
    }

    @Test
    void topicsOfTheOutboxCanBeLimitedToo() {
        windlass.outbox().enqueueAll(Collections.nCopies(5, OutboxEntry.of("mail", "hello")));
        windlass.outbox().operator("anna").limit("mail", TopicLimit.none().withRunning(2));

        assertThat(windlass.outbox().claim(OwnerToken.fresh(), LEASE, 10)).hasSize(2);
        assertThat(windlass.outbox().claim(OwnerToken.fresh(), LEASE, 10)).isEmpty();
        assertThatThrownBy(() -> windlass.outbox()
                        .operator("anna")
                        .limit("mail", TopicLimit.none().withPerKey(2)))
                .hasMessageContaining("have no keys");
    }

    @Test
    void limitsAreListedAndWhoChangesOneIsRecorded() {
        WorkOperator anna = work.operator("anna");
        TopicLimit limit = TopicLimit.none().withRunning(7).withRate(100, Duration.ofSeconds(90));

        assertThat(anna.limit("queue", TopicLimit.none())).isFalse();
        assertThat(anna.limit("queue", limit)).isTrue();
        assertThat(anna.limit("queue", limit)).isFalse();
        assertThat(anna.limits()).containsExactly(Map.entry("queue", limit));
        assertThat(anna.actions(10)).singleElement().satisfies(action -> {
            assertThat(action.verb()).isEqualTo("limit");
            assertThat(action.by()).isEqualTo("anna");
        });

        anna.pause("queue", "tea");
        anna.resume("queue");
        assertThat(anna.limits()).containsExactly(Map.entry("queue", limit));
        assertThat(anna.limit("queue", TopicLimit.none())).isTrue();
        assertThat(anna.limits()).isEmpty();
    }

    @Test
    void limitsThatCannotBeAreRefusedAndNothingIsWritten() {
        assertThatThrownBy(() -> TopicLimit.none().withRunning(0)).hasMessageContaining("got 0");
        assertThatThrownBy(() -> TopicLimit.none().withPerKey(-1)).hasMessageContaining("got -1");
        assertThatThrownBy(() -> TopicLimit.none().withRate(5, Duration.ZERO)).hasMessageContaining("period");
        assertThatThrownBy(() -> new TopicLimit(null, null, 5, null)).hasMessageContaining("a rate alone");
        assertThatThrownBy(
                        () -> work.operator("anna").limit(" ", TopicLimit.none().withRunning(1)))
                .hasMessageContaining("topic");
        assertThat(work.operator("anna").limits()).isEmpty();
    }
}
