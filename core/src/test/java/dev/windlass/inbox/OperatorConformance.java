package dev.windlass.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.OwnerToken;
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

/** Dead and stuck messages, and how long the inbox remembers. */
@Timeout(60)
abstract class OperatorConformance extends InboxConformance {
    private InboxOperator operator;

    @BeforeEach
    void hireOperator() {
        operator = inbox.operator("anna");
    }

    private static InboxKey key(String id) {
        return new InboxKey(SOURCE, id);
    }

    private void dead(String id) {
        inbox.markDead(begun(id), "no");
    }

    private void deadInQueue(String... ids) {
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
    void deadMessagesAreListedTheLatestFirstAndWithoutPayload() {
        dead("1");
        deadInQueue("2");
        processed("3");
        List<SeenMessage> dead = operator.dead(InboxFilter.all(), 10);
        assertThat(dead).extracting(message -> message.key().messageId()).containsExactly("2", "1");
        assertThat(dead.get(0).topic()).contains("topic");
        assertThat(dead.get(0).payload()).isEmpty();
        assertThat(dead.get(1).topic()).isEmpty();
        assertThat(dead.get(1).lastError()).contains("no");
    }

    private List<String> list(SeenFilter filter) {
        return ids(operator.list(filter, 100));
    }

    private static List<String> ids(List<ListedMessage> messages) {
        return messages.stream()
                .map(listed -> listed.message().key().messageId())
                .toList();
    }

    private List<String> paged(SeenFilter filter) {
        List<String> ids = new ArrayList<>();
        List<ListedMessage> page = operator.list(filter, 1);
        while (!page.isEmpty()) {
            ids.addAll(ids(page));
            page = operator.list(filter, 1, page.get(0));
        }
        return ids;
    }

    private static SeenFilter of(InboxStatus status) {
        return SeenFilter.all().withStatus(status);
    }

    @Test
    void messagesOfEachStateAreListedAlsoPageByPage() {
        dead("dead 1");
        deadInQueue("dead 2");
        processed("done 1");
        processed("done 2");
        begun("begun 1");
        inbox.enqueue(entry("claimed"));
        inbox.claim(OwnerToken.fresh(), LEASE, 1);
        inbox.enqueue(entry("ready 1"));
        inbox.enqueue(entry("ready 2"));
        assertThat(list(of(InboxStatus.DEAD))).containsExactly("dead 2", "dead 1");
        assertThat(list(of(InboxStatus.DONE))).containsExactly("done 2", "done 1");
        assertThat(list(of(InboxStatus.IN_PROGRESS))).containsExactly("begun 1", "claimed");
        assertThat(list(of(InboxStatus.READY))).containsExactly("ready 1", "ready 2");
        assertThat(list(SeenFilter.all()))
                .containsExactly("begun 1", "claimed", "dead 1", "dead 2", "done 1", "done 2", "ready 1", "ready 2");
        assertThat(paged(SeenFilter.all())).isEqualTo(list(SeenFilter.all()));
        assertThat(paged(SeenFilter.all().withSource(SOURCE))).isEqualTo(list(SeenFilter.all()));
        for (InboxStatus status : InboxStatus.values()) {
            assertThat(paged(of(status))).isEqualTo(list(of(status))).hasSize(2);
        }
        assertThat(operator.list(SeenFilter.all(), 10))
                .allSatisfy(listed -> assertThat(listed.message().payload()).isEmpty());
    }

    @Test
    void listedMessagesAreChosenBySourceTopicAndTime() {
        processed("done");
        inbox.enqueue(entry("ready"));
        assertThat(list(SeenFilter.all().withTopic("topic"))).containsExactly("ready");
        assertThat(list(of(InboxStatus.READY).withTopic("topic"))).containsExactly("ready");
        assertThat(list(of(InboxStatus.READY).withTopic("other"))).isEmpty();
        assertThat(list(SeenFilter.all().withSource("other"))).isEmpty();
        Instant at = operator.list(of(InboxStatus.DONE), 1).get(0).at();
        for (SeenFilter filter : List.of(SeenFilter.all(), of(InboxStatus.DONE), of(InboxStatus.READY))) {
            assertThat(list(filter.withFrom(at.minusSeconds(60)).withUntil(at.plusSeconds(60))))
                    .isEqualTo(list(filter));
            assertThat(list(filter.withFrom(at.plusSeconds(60)))).isEmpty();
            assertThat(list(filter.withUntil(at.minusSeconds(60)))).isEmpty();
        }
    }

    @Test
    void deadMessagesAreChosenBySourceAndTopic() {
        dead("1");
        deadInQueue("2");
        Begin.Proceed other = (Begin.Proceed) inbox.begin("payments", "3");
        inbox.markDead(other.attempt(), "no");
        assertThat(operator.dead(InboxFilter.all().withSource("payments"), 10)).hasSize(1);
        assertThat(operator.dead(InboxFilter.all().withTopic("topic"), 10)).hasSize(1);
        assertThat(operator.dead(InboxFilter.all().withSource(SOURCE), 10)).hasSize(2);
        assertThat(operator.dead(InboxFilter.all().withSource("x"), 10)).isEmpty();
    }

    /** All died at one moment: pages go on by the key. */
    @Test
    void pagesShowEveryDeadMessageOnce() {
        IntStream.range(0, 25).forEach(n -> dead("message " + n));
        database().update("update %s.inbox set ended_at = '2025-01-01T00:00:00Z'");
        List<SeenMessage> all = new ArrayList<>(operator.dead(InboxFilter.all(), 4));
        List<SeenMessage> page = all;
        while (!page.isEmpty()) {
            page = operator.dead(InboxFilter.all(), 4, all.get(all.size() - 1));
            all.addAll(page);
        }
        assertThat(all).hasSize(25).extracting(SeenMessage::key).doesNotHaveDuplicates();
    }

    @Test
    void aRevivedMessageHasAllItsAttemptsAgain() {
        for (int i = 0; i < 3; i++) {
            inbox.abandon(begun("1"), "no", Duration.ZERO);
        }
        assertThat(status("1")).isEqualTo(InboxStatus.DEAD);
        assertThat(operator.revive(List.of(key("1"), key("1"), key("unknown")))).isEqualTo(1);
        assertThat(seen("1").revivals()).isEqualTo(1);
        assertThat(begun("1").number()).isEqualTo(1);
    }

    @Test
    void aRevivedMessageOfTheQueueIsClaimedAgain() {
        deadInQueue("1");
        assertThat(operator.revive(List.of(key("1")))).isEqualTo(1);
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
    }

    @Test
    void onlyDeadMessagesAreRevivedOrPurged() {
        processed("done");
        begun("busy");
        inbox.enqueue(entry("ready"));
        List<InboxKey> keys = List.of(key("done"), key("busy"), key("ready"));
        assertThat(operator.revive(keys)).isZero();
        assertThat(operator.purge(keys)).isZero();
        assertThat(operator.revive(InboxFilter.all())).isZero();
        assertThat(operator.purge(InboxFilter.all())).isZero();
        assertThat(count("1 = 1")).isEqualTo(3);
    }

    @Test
    void manyAreRevivedOrPurgedInBatches() {
        deadInQueue(IntStream.range(0, 1100).mapToObj(n -> "message " + n).toArray(String[]::new));
        assertThat(operator.revive(InboxFilter.all().withTopic("topic"))).isEqualTo(1100);
        assertThat(count("status = 0")).isEqualTo(1100);
        deadInQueue();
        assertThat(operator.purge(InboxFilter.all().withSource("payments"))).isZero();
        assertThat(operator.purge(IntStream.range(0, 600)
                        .mapToObj(n -> key("message " + n))
                        .toList()))
                .isEqualTo(600);
        assertThat(operator.purge(InboxFilter.all())).isEqualTo(500);
        assertThat(count("1 = 1")).isZero();
    }

    @Test
    void aPurgedMessageIsForgotten() {
        dead("1");
        assertThat(operator.purge(List.of(key("1")))).isEqualTo(1);
        assertThat(begun("1").number()).isEqualTo(1);
    }

    @Test
    void changesAreLoggedWithTheOperatorsName() {
        dead("1");
        try (Logs logs = Logs.collect(Level.INFO)) {
            operator.revive(InboxFilter.all());
            assertThat(logs.count(Level.INFO, "revive by anna: 1 dead messages"))
                    .isEqualTo(1);
        }
    }

    @Test
    void stuckAreThoseWhoseLeaseRanOutOrThatTakeTooLong() {
        begun("fresh");
        begun("lost");
        begun("slow");
        inbox.enqueueAll(List.of(entry("queued and lost"), entry("ready")));
        inbox.claim(OwnerToken.fresh(), LEASE, 1);
        runOutLease("lost");
        database().update("update %s.inbox set locked_until = first_seen_at where status = 1 and topic = 'topic'");
        database().update("update %s.inbox set claimed_at = '2025-01-01T00:00:00Z' where message_id = 'slow'");
        processed("done");
        List<SeenMessage> stuck = operator.stuck(Duration.ofHours(1), 10);
        assertThat(stuck).hasSize(3);
        assertThat(stuck.get(0).key()).isEqualTo(key("slow"));
        assertThat(stuck).extracting(message -> message.key().messageId()).contains("lost");
        assertThat(operator.stuck(Duration.ofHours(1), 2)).hasSize(2);
        assertThat(operator.stuck(Duration.ZERO, 10)).hasSize(4);
    }

    @Test
    void whatIsDoneIsForgottenAfterTheRetentionAndTheDeadStay() throws Exception {
        IntStream.range(0, 20).forEach(n -> processed("message " + n));
        dead("dead");
        begun("busy");
        assertThat(clean(100)).isZero();
        database().update("update %s.inbox set ended_at = ended_at - interval '31' day where ended_at is not null");
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
        dead("dead");
        inbox.enqueueAll(List.of(entry("ready"), entry("claimed")));
        inbox.claim(OwnerToken.fresh(), LEASE, 1);
        age();
        begun("renewed");
        database()
                .update("update %s.inbox set claimed_at = claimed_at - interval '31' day where message_id = 'renewed'");
        begun("fresh");
        inbox.abandon(begun("resting"), "no", Duration.ZERO);
        assertThat(clean(2)).isEqualTo(2);
        assertThat(clean(2)).isEqualTo(1);
        assertThat(clean(2)).isZero();
        assertThat(count("message_id in ('dead', 'ready', 'claimed', 'renewed', 'fresh', 'resting')"))
                .isEqualTo(6);
        assertThat(count("1 = 1")).isEqualTo(6);
    }

    /** As if nobody had come for 31 days. */
    private void age() {
        database().update("update %s.inbox set ended_at = ended_at - interval '31' day where ended_at is not null");
        database().update("update %s.inbox set next_attempt_at = next_attempt_at - interval '31' day");
        database()
                .update("update %s.inbox set claimed_at = claimed_at - interval '31' day,"
                        + " locked_until = locked_until - interval '31' day where status = 1");
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
        assertThat(status("1")).isEqualTo(InboxStatus.DONE);
    }

    private int clean(int limit) throws SQLException {
        InboxStore store = new InboxStore(database().routines(), "inbox", "node-1", Duration.ofDays(30), LEASE);
        return database().routines().once(connection -> store.clean(connection, limit));
    }
}
