package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** One item for each unique key. */
@OnEveryEngine
class UniqueConformance extends WorkConformance {

    @Test
    void aSecondItemIsNotWrittenWhileTheFirstIsQueuedOrRunning() {
        WorkIdentifier first = work.enqueue(item("first").ifAbsent("report 7"));

        assertThat(work.enqueue(item("second").ifAbsent("report 7"))).isEqualTo(first);
        OwnerToken owner = OwnerToken.fresh();
        assertThat(payloads(claim(owner, 10))).containsExactly("first");
        assertThat(work.enqueue(item("third").ifAbsent("report 7"))).isEqualTo(first);

        work.ack(owner, List.of(first));
        assertThat(work.enqueue(item("fourth").ifAbsent("report 7"))).isNotEqualTo(first);
        assertThat(claim(10)).containsExactly("fourth");
    }

    @Test
    void keysOfOtherQueuesAreOthers() {
        work.enqueue(item("one").ifAbsent("key"));
        work.enqueue(WorkEntry.of("other", "type", "two").ifAbsent("key"));

        assertThat(payloads(work.claim(OwnerToken.fresh(), LEASE, 10))).containsExactlyInAnyOrder("one", "two");
    }

    @Test
    void aReplacementTakesThePlaceOfWhatIsStillQueued() {
        WorkIdentifier first =
                work.enqueue(item("first").withDelay(Duration.ofHours(1)).replacing("search index"));
        WorkIdentifier second = work.enqueue(item("second").replacing("search index"));

        assertThat(work.find(first)).isEmpty();
        assertThat(work.find("queue", "search index")).map(WorkItem::id).contains(second);
        assertThat(claim(10)).containsExactly("second");
    }

    @Test
    void whatIsRunningGoesOnAndItsReplacementIsQueuedBesideIt() {
        WorkIdentifier running = work.enqueue(item("running").replacing("search index"));
        OwnerToken owner = OwnerToken.fresh();
        claim(owner, 1);
        WorkIdentifier next = work.enqueue(item("next").replacing("search index"));

        assertThat(work.heartbeat(owner, List.of(running), LEASE)).isEqualTo(1);
        assertThat(work.find("queue", "search index")).map(WorkItem::id).contains(next);
        assertThat(work.ack(owner, List.of(running))).isEqualTo(1);
        assertThat(claim(10)).containsExactly("next");
    }

    @Test
    void ofManyWhoWriteOneKeyAtOnceOneDoesAndAllLearnWhich() throws Exception {
        List<WorkIdentifier> all = together(IntStream.range(0, 8)
                .<Callable<WorkIdentifier>>mapToObj(
                        i -> () -> work.enqueue(item("item " + i).ifAbsent("key")))
                .toList());

        assertThat(new HashSet<>(all)).hasSize(1);
        assertThat(claim(10)).hasSize(1);
    }

    @Test
    void ofManyReplacementsAtOnceOneStandsInTheEnd() throws Exception {
        together(IntStream.range(0, 8)
                .<Callable<WorkIdentifier>>mapToObj(
                        i -> () -> work.enqueue(item("item " + i).replacing("key")))
                .toList());

        assertThat(claim(10)).hasSize(1);
    }

    @Test
    void manyItemsInOneCallMayHaveTheSameKey() {
        List<WorkIdentifier> ids = work.enqueueAll(List.of(
                item("one").ifAbsent("b"),
                item("two"),
                item("three").ifAbsent("a"),
                item("four").ifAbsent("b")));

        assertThat(ids.get(3)).isEqualTo(ids.get(0));
        assertThat(claim(10)).containsExactlyInAnyOrder("one", "two", "three");
    }

    @Test
    void aReplacementThatIsRolledBackReplacesNothing() throws SQLException {
        work.enqueue(item("first").replacing("key"));
        try (Connection caller = database().transaction()) {
            work.enqueue(caller, item("second").replacing("key"));
            caller.rollback();
        }
        assertThat(claim(10)).containsExactly("first");
    }

    @Test
    void aFailedItemIsNotRequeuedWhileAnotherHasItsKey() {
        WorkIdentifier failed = work.enqueue(item("failed").ifAbsent("key"));
        OwnerToken owner = OwnerToken.fresh();
        claim(owner, 1);
        work.fail(owner, List.of(failed), "no");
        WorkIdentifier other = work.enqueue(item("other").ifAbsent("key"));

        assertThat(work.operator("anna").requeue(List.of(failed), Attempts.RESET))
                .isZero();
        assertThat(work.find(failed)).map(WorkItem::status).contains(WorkStatus.FAILED);

        assertThat(work.cancel(other)).isTrue();
        assertThat(work.operator("anna").requeue(List.of(failed), Attempts.RESET))
                .isEqualTo(1);
        assertThat(claim(10)).containsExactly("failed");
    }
}
