package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.ListedMessage;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.operator.Page;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What operators do to messages, queued or not, and how long the inbox remembers. */
@Timeout(60)
@OnEveryEngine
final class OperatorConformance extends InboxConformance {
    private InboxOperator operator;

    @BeforeEach
    void hireOperator() {
        operator = inbox.operator("anna");
    }

    private static InboxKey key(String id) {
        return new InboxKey(SOURCE, id);
    }

    private void failed(String id) {
        inbox.markDead(begun(id), "no");
    }

    private void failedInQueue(String... ids) {
        for (String id : ids) {
            inbox.enqueue(entry(id));
        }
        OwnerToken owner = OwnerToken.fresh();
        inbox.fail(
                owner,
                inbox.claim(owner, LEASE, 10_000).stream().map(InboxMessage::id).toList(),
                "no");
    }

    @Test
    void failedMessagesAreListedTheLatestFirstWhetherTheyWereQueuedOrNot() {
        failed("1");
        failedInQueue("2");
        failed("3");
        processed("4");
        List<ListedMessage> failed = operator.list(MessageFilter.failed(), 10);
        assertThat(failed).extracting(message -> message.key().messageId()).containsExactly("3", "2", "1");
        assertThat(failed.get(0).topic()).isEmpty();
        assertThat(failed.get(0).id()).isEmpty();
        assertThat(failed.get(1).topic()).contains("topic");
        assertThat(failed.get(1).id()).isPresent();
        assertThat(failed).allSatisfy(message -> assertThat(message.lastError()).contains("no"));
        assertThat(failed).allSatisfy(message -> assertThat(message.endedBy()).contains("node-1"));
    }

    private List<String> list(MessageFilter filter) {
        return ids(operator.list(filter, 100));
    }

    private static List<String> ids(List<ListedMessage> messages) {
        return messages.stream().map(listed -> listed.key().messageId()).toList();
    }

    private List<String> paged(MessageFilter filter, int size) {
        List<String> ids = new ArrayList<>();
        Page<ListedMessage> page = operator.list(filter, size);
        ids.addAll(ids(page));
        while (page.next().isPresent()) {
            page = operator.list(filter, size, page.next().orElseThrow());
            ids.addAll(ids(page));
        }
        return ids;
    }

    private static MessageFilter of(WorkStatus status) {
        return MessageFilter.all().withStatus(status);
    }

    @Test
    void messagesOfEachStateAreListedAlsoPageByPage() {
        failed("failed 1");
        failedInQueue("failed 2");
        processed("done 1");
        processed("done 2");
        begun("begun 1");
        inbox.enqueue(entry("claimed"));
        inbox.claim(OwnerToken.fresh(), LEASE, 1);
        inbox.enqueue(entry("ready 1"));
        inbox.abandon(begun("ready 2"), "no", Duration.ZERO);
        inbox.enqueueAll(List.of(entry("cancelled 1"), entry("cancelled 2")));
        inbox.cancel(SOURCE, "cancelled 1");
        inbox.cancel(SOURCE, "cancelled 2");
        assertThat(list(of(WorkStatus.FAILED))).containsExactly("failed 2", "failed 1");
        assertThat(list(of(WorkStatus.DONE))).containsExactly("done 2", "done 1");
        assertThat(list(of(WorkStatus.IN_PROGRESS))).containsExactly("begun 1", "claimed");
        assertThat(list(of(WorkStatus.READY))).containsExactly("ready 1", "ready 2");
        assertThat(list(of(WorkStatus.CANCELLED))).containsExactly("cancelled 2", "cancelled 1");
        assertThat(list(MessageFilter.all()))
                .containsExactly(
                        "cancelled 2",
                        "cancelled 1",
                        "ready 1",
                        "claimed",
                        "failed 2",
                        "ready 2",
                        "begun 1",
                        "done 1",
                        "done 2",
                        "failed 1");
        for (int size : new int[] {1, 3, 4}) {
            assertThat(paged(MessageFilter.all(), size)).isEqualTo(list(MessageFilter.all()));
            for (WorkStatus status : WorkStatus.values()) {
                assertThat(paged(of(status), size)).isEqualTo(list(of(status)));
            }
        }
    }

    @Test
    void listedMessagesAreChosenBySourceTopicErrorAndTime() {
        processed("done");
        inbox.enqueue(entry("ready"));
        failed("failed");
        assertThat(list(MessageFilter.all().withTopic("topic"))).containsExactly("ready");
        assertThat(list(of(WorkStatus.READY).withTopic("topic"))).containsExactly("ready");
        assertThat(list(of(WorkStatus.READY).withTopic("other"))).isEmpty();
        assertThat(list(MessageFilter.all().withSource("other"))).isEmpty();
        assertThat(list(MessageFilter.all().withSource(SOURCE))).containsExactly("ready", "done", "failed");
        assertThat(list(MessageFilter.all().withError("NO"))).containsExactly("failed");
        assertThat(list(MessageFilter.failed().withError("yes"))).isEmpty();
        Instant at = operator.list(of(WorkStatus.DONE), 1).get(0).at();
        for (MessageFilter filter : List.of(MessageFilter.all(), of(WorkStatus.DONE), of(WorkStatus.READY))) {
            assertThat(list(filter.withFrom(at.minusSeconds(60)).withUntil(at.plusSeconds(60))))
                    .isEqualTo(list(filter));
            assertThat(list(filter.withFrom(at.plusSeconds(60)))).isEmpty();
            assertThat(list(filter.withUntil(at.minusSeconds(60)))).isEmpty();
        }
    }

    /** All failed at one moment: pages go on by the key. */
    @Test
    void pagesShowEveryMessageOnce() {
        IntStream.range(0, 13).forEach(n -> failed("message " + n));
        failedInQueue(IntStream.range(13, 25).mapToObj(n -> "message " + n).toArray(String[]::new));
        database().update("update %s.inbox_seen set state_at = '2025-01-01T00:00:00Z' where status = 3");
        database().update("update %s.inbox set ended_at = '2025-01-01T00:00:00Z'");
        assertThat(paged(MessageFilter.failed(), 4)).hasSize(25).doesNotHaveDuplicates();
        assertThat(paged(MessageFilter.all(), 4)).hasSize(25).doesNotHaveDuplicates();
        operator.requeue(MessageFilter.failed(), Attempts.RESET);
        database().update("update %s.inbox_seen set state_at = '2025-01-01T00:00:00Z' where status = 0");
        database().update("update %s.inbox set next_attempt_at = '2025-01-01T00:00:00Z'");
        assertThat(paged(of(WorkStatus.READY), 4)).hasSize(25).doesNotHaveDuplicates();
    }

    @Test
    void aRequeuedMessageHasAllItsAttemptsAgain() {
        for (int i = 0; i < 3; i++) {
            inbox.abandon(begun("1"), "no", Duration.ZERO);
        }
        assertThat(status("1")).isEqualTo(WorkStatus.FAILED);
        assertThat(operator.requeue(List.of(key("1"), key("1"), key("unknown")), Attempts.RESET))
                .isEqualTo(1);
        assertThat(seen("1").requeues()).isEqualTo(1);
        assertThat(begun("1").number()).isEqualTo(1);
    }

    @Test
    void aMessageThatKeepsItsAttemptsGetsOneMore() {
        for (int i = 0; i < 3; i++) {
            inbox.abandon(begun("1"), "no", Duration.ZERO);
        }
        assertThat(operator.requeue(List.of(key("1")), Attempts.KEEP)).isEqualTo(1);
        InboxAttempt last = begun("1");
        assertThat(last.number()).isEqualTo(4);
        assertThat(inbox.abandon(last, "no", Duration.ZERO)).isFalse();
        assertThat(status("1")).isEqualTo(WorkStatus.FAILED);
    }

    @Test
    void aRequeuedMessageOfTheQueueIsClaimedAgain() {
        failedInQueue("1");
        assertThat(operator.requeue(List.of(key("1")), Attempts.RESET)).isEqualTo(1);
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
    }

    @Test
    void onlyFailedMessagesAreRequeuedOrPurged() {
        processed("done");
        begun("busy");
        inbox.enqueueAll(List.of(entry("ready"), entry("cancelled")));
        inbox.cancel(SOURCE, "cancelled");
        List<InboxKey> keys = List.of(key("done"), key("busy"), key("ready"), key("cancelled"));
        assertThat(operator.requeue(keys, Attempts.RESET)).isZero();
        assertThat(operator.purge(keys)).isZero();
        assertThat(operator.requeue(MessageFilter.failed(), Attempts.RESET)).isZero();
        assertThat(operator.purge(MessageFilter.all())).isZero();
        assertThat(count("1 = 1")).isEqualTo(4);
    }

    @Test
    void queuedAndOtherMessagesAreChangedTogether() {
        failed("1");
        failedInQueue("2");
        inbox.markDead(((Begin.Proceed) inbox.begin("payments", "3")).attempt(), "no");
        assertThat(operator.requeue(MessageFilter.failed().withSource(SOURCE), Attempts.RESET))
                .isEqualTo(2);
        assertThat(count("status = 0")).isEqualTo(2);
        failedInQueue();
        inbox.markDead(begun("1"), "no");
        assertThat(operator.purge(List.of(key("1"), key("2")))).isEqualTo(2);
        assertThat(count("1 = 1")).isEqualTo(1);
        assertThat(operator.actions(10))
                .extracting(OperatorAction::verb, OperatorAction::by, OperatorAction::messages)
                .containsExactly(tuple("purge", "anna", 2), tuple("requeue", "anna", 2));
        assertThat(operator.actions(1).get(0).detail()).contains(SOURCE + " 1").contains(SOURCE + " 2");
        assertThat(operator.actions(10).get(1).detail()).contains(SOURCE);
    }

    @Test
    void manyAreRequeuedOrPurgedInBatches() {
        failedInQueue(IntStream.range(0, 1100).mapToObj(n -> "message " + n).toArray(String[]::new));
        IntStream.range(1100, 1800).forEach(n -> failed("message " + n));
        assertThat(operator.requeue(MessageFilter.failed().withTopic("topic"), Attempts.RESET))
                .isEqualTo(1100);
        assertThat(count("status = 0")).isEqualTo(1100);
        failedInQueue();
        assertThat(operator.purge(MessageFilter.failed().withSource("payments")))
                .isZero();
        assertThat(operator.purge(IntStream.range(0, 600)
                        .mapToObj(n -> key("message " + n))
                        .toList()))
                .isEqualTo(600);
        assertThat(operator.requeue(MessageFilter.failed(), Attempts.RESET)).isEqualTo(1200);
        assertThat(operator.actions(1)).extracting(OperatorAction::messages).containsExactly(1200);
        failedInQueue();
        IntStream.range(1100, 1800).forEach(n -> failed("message " + n));
        assertThat(operator.purge(MessageFilter.failed())).isEqualTo(1200);
        assertThat(count("1 = 1")).isZero();
    }

    @Test
    void aPurgedMessageIsForgotten() {
        failed("1");
        failedInQueue("2");
        assertThat(operator.purge(List.of(key("1"), key("2")))).isEqualTo(2);
        assertThat(begun("1").number()).isEqualTo(1);
        assertThat(inbox.enqueue(entry("2")).isNew()).isTrue();
        assertThat(inbox.failures(SOURCE, "2")).isEmpty();
    }

    @Test
    void whatIsPurgedWaitsForNobody() throws SQLException {
        failedInQueue("1", "2");
        try (Connection connection = transaction()) {
            inbox.enqueue(connection, entry("1"));
            assertThat(operator.purge(MessageFilter.failed())).isEqualTo(1);
            connection.commit();
        }
        assertThat(status("1")).isEqualTo(WorkStatus.FAILED);
        assertThat(operator.purge(MessageFilter.failed())).isEqualTo(1);
    }

    @Test
    void changesAreLoggedWithTheOperatorsName() {
        failed("1");
        try (Logs logs = Logs.collect(Level.INFO)) {
            operator.requeue(MessageFilter.failed(), Attempts.RESET);
            assertThat(logs.count(Level.INFO, "requeue by anna: 1 failed messages"))
                    .isEqualTo(1);
        }
    }

    @Test
    void whatIsErasedHasNoPayloadAndCannotBeRequeued() {
        failedInQueue("1");
        failed("2");
        assertThat(operator.erase(List.of(key("1"), key("2"), key("unknown")))).isEqualTo(1);
        assertThat(seen("1").payload()).contains("");
        assertThat(operator.list(MessageFilter.failed().withTopic("topic"), 10))
                .extracting(ListedMessage::isErased)
                .containsExactly(true);
        assertThat(operator.requeue(List.of(key("1")), Attempts.RESET)).isZero();
    }

    @Test
    void aPausedTopicIsNotClaimedUntilItIsResumed() {
        inbox.enqueue(entry("1"));
        assertThat(operator.pause("topic", "too much")).isTrue();
        assertThat(operator.pause("topic", "again")).isFalse();
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).isEmpty();
        assertThat(operator.pausedTopics()).singleElement().satisfies(paused -> {
            assertThat(paused.topic()).isEqualTo("topic");
            assertThat(paused.reason()).contains("too much");
        });
        assertThat(windlass.outbox().operator("anna").pausedTopics()).isEmpty();
        assertThat(operator.resume("topic")).isTrue();
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
        assertThat(operator.actions(10)).extracting(OperatorAction::verb).containsExactly("resume", "pause");
    }

    @Test
    void stuckAreThoseWhoseLeaseRanOutOrThatTakeTooLong() {
        begun("fresh");
        begun("lost");
        begun("slow");
        inbox.enqueueAll(List.of(entry("queued and lost"), entry("ready")));
        inbox.claim(OwnerToken.fresh(), LEASE, 1);
        runOutLease("lost");
        database().update("update %s.inbox set locked_until = created_at where status = 1");
        database().update("update %s.inbox_seen set claimed_at = '2025-01-01T00:00:00Z' where message_id = 'slow'");
        processed("done");
        List<ListedMessage> stuck = operator.stuck(Duration.ofHours(1), 10);
        assertThat(stuck).hasSize(3);
        assertThat(stuck.get(0).key()).isEqualTo(key("slow"));
        assertThat(ids(stuck)).contains("lost", "queued and lost");
        assertThat(operator.stuck(Duration.ofHours(1), 2)).hasSize(2);
        assertThat(operator.stuck(Duration.ZERO, 10)).hasSize(4);
    }

    @Test
    void whatIsDoneIsForgottenAfterTheRetentionAndWhatFailedStays() throws Exception {
        IntStream.range(0, 20).forEach(n -> processed("message " + n));
        failed("failed");
        failedInQueue("failed in queue");
        assertThat(clean(100)).isZero();
        age();
        assertThat(clean(15)).isEqualTo(15);
        assertThat(clean(15)).isEqualTo(5);
        assertThat(count("1 = 1")).isEqualTo(2);
        assertThat(begun("message 1").number()).isEqualTo(1);
    }

    @Test
    void guardsThatNeverEndedAreForgottenAfterTheRetention() throws Exception {
        processed("done");
        begun("never ended");
        inbox.abandon(begun("never begun again"), "no", Duration.ZERO);
        failed("failed");
        inbox.enqueueAll(List.of(entry("ready"), entry("claimed")));
        inbox.claim(OwnerToken.fresh(), LEASE, 1);
        age();
        begun("renewed");
        age("inbox_seen", "claimed_at", "message_id = 'renewed'");
        age("inbox_seen", "state_at", "message_id = 'renewed'");
        begun("fresh");
        inbox.abandon(begun("resting"), "no", Duration.ZERO);
        assertThat(clean(2)).isEqualTo(2);
        assertThat(clean(2)).isEqualTo(1);
        assertThat(clean(2)).isZero();
        assertThat(count("message_id in ('failed', 'ready', 'claimed', 'renewed', 'fresh', 'resting')"))
                .isEqualTo(6);
        assertThat(count("1 = 1")).isEqualTo(6);
    }

    /** As if nobody had come for 31 days. */
    private void age() {
        age("inbox", "ended_at", "ended_at is not null");
        age("inbox_seen", "state_at", "id is null");
        age("inbox_seen", "locked_until", "status = 1");
    }

    private void age(String table, String column, String where) {
        String earlier = database().plus(column, Duration.ofDays(-31));
        database().update("update %s." + table + " set " + column + " = " + earlier + " where " + where);
    }

    @Test
    void whatTheQueueHasDoneOrCancelledIsForgottenAfterTheRetention() throws Exception {
        inbox.enqueueAll(List.of(entry("1"), entry("2"), entry("3")));
        OwnerToken owner = OwnerToken.fresh();
        inbox.cancel(SOURCE, "3");
        inbox.ack(owner, List.of(inbox.claim(owner, LEASE, 1).get(0).id()));
        age();
        assertThat(clean(10)).isEqualTo(2);
        assertThat(count("status = 0")).isEqualTo(1);
        assertThat(count("1 = 1")).isEqualTo(1);
        assertThat(inbox.enqueueAll(List.of(entry("1"), entry("2"), entry("3"))))
                .extracting(Enqueued::isNew)
                .filteredOn(isNew -> isNew)
                .hasSize(2);
    }

    /** Who has it locked may be about to end it. */
    @Test
    void whatSomebodyHasLockedIsForgottenLater() throws Exception {
        InboxAttempt attempt = begun("1");
        age();
        try (Connection connection = transaction()) {
            inbox.markProcessed(connection, attempt);
            assertThat(clean(10)).isZero();
            connection.commit();
        }
        assertThat(clean(10)).isZero();
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    private int clean(int limit) throws SQLException {
        InboxStore store = new InboxStore(database().routines(), "inbox", "node-1", Duration.ofDays(30), LEASE);
        int deleted = database()
                .routines()
                .once(connection -> store.clean(connection, limit, Instant.MIN))
                .deleted();
        for (WorkStore.Upkeep upkeep : store.upkeep().values()) {
            deleted += database().routines().once(connection -> upkeep.run(connection, limit));
        }
        return deleted;
    }
}
