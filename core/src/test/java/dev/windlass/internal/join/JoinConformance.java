package dev.windlass.internal.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Shows;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinFilter;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinMember;
import dev.windlass.join.JoinStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Page;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starting, attaching, counting, following: what a join does as its steps end. */
@OnEveryEngine
final class JoinConformance extends JoinsConformance {

    @Test
    @Shows({"OBX-080", "OBX-081", "OBX-082", "OBX-095"})
    void aNewJoinIsPendingAndHasCountedNothing() {
        JoinIdentifier id =
                joins.start(JoinEntry.of(3).withGroupingKey("customer 7").withMetadata("{\"phase\": 1}"));
        JoinIdentifier other = joins.start(JoinEntry.of(3).withGroupingKey("customer 7"));

        Join join = stored(id);
        assertThat(join.status()).isEqualTo(JoinStatus.PENDING);
        assertThat(join.groupingKey()).contains("customer 7");
        assertThat(join.metadata()).contains("{\"phase\": 1}");
        assertThat(join.endedAt()).isEmpty();
        assertThat(counted(id)).isEqualTo("0 + 0 of 3");
        assertThat(other).isNotEqualTo(id);
    }

    @Test
    @Shows("OBX-095")
    void joinsAreListedByTheirKeyTheLatestFirst() {
        JoinIdentifier first = joins.start(JoinEntry.of(1).withGroupingKey("a"));
        JoinIdentifier second = joins.start(JoinEntry.of(1).withGroupingKey("a"));
        joins.start(JoinEntry.of(1).withGroupingKey("A"));
        joins.start(JoinEntry.of(1));

        JoinFilter ofKey = JoinFilter.all().withGroupingKey("a");
        assertThat(joins.list(ofKey, 10)).extracting(Join::id).containsExactly(second, first);
        Page<Join> page = joins.list(ofKey, 1);
        assertThat(page).extracting(Join::id).containsExactly(second);
        assertThat(joins.list(ofKey, 1, page.next().orElseThrow()))
                .extracting(Join::id)
                .containsExactly(first);
        assertThat(joins.list(JoinFilter.all(), 10)).hasSize(4);
        joins.cancel(first);
        assertThat(joins.list(ofKey.withStatus(JoinStatus.CANCELLED), 10))
                .extracting(Join::id)
                .containsExactly(first);
    }

    @Test
    @Shows({"OBX-083", "OBX-084"})
    void aMessageIsAttachedOnce() {
        JoinIdentifier join = started(2);
        OutboxMessageIdentifier message = step();

        assertThat(outbox.attach(join, List.of(message, message))).isEqualTo(1);
        assertThat(outbox.attach(join, List.of(message))).isZero();

        assertThat(joins.members(join, 10))
                .singleElement()
                .satisfies(member -> assertThat(member.id()).isEqualTo(message.value()))
                .satisfies(member -> assertThat(member.queue()).contains("outbox"));
        ackAll();
        assertThat(counted(join)).isEqualTo("1 + 0 of 2");
    }

    @Test
    void membersAreListedPageByPage() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(3), steps(3));

        Page<JoinMember> page = joins.members(join, 2);
        assertThat(page).hasSize(2);
        assertThat(joins.members(join, 2, page.next().orElseThrow()))
                .singleElement()
                .satisfies(last -> assertThat(page).doesNotContain(last));
    }

    @Test
    @Shows({"OBX-090", "OBX-091", "OBX-093"})
    void theLastAckEndsItAndWritesWhatFollows() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(3).withFollowUp(FOLLOW_UP), steps(3));
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids = claim(owner);

        outbox.ack(owner, ids.subList(0, 2));
        assertThat(stored(join).status()).isEqualTo(JoinStatus.PENDING);
        assertThat(followUps()).isEmpty();
        outbox.ack(owner, ids);

        assertThat(stored(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(stored(join).endedAt()).isPresent();
        assertThat(followUps()).containsExactly("done well");
        assertThat(outbox.find(
                        new OutboxMessageIdentifier(stored(join).followUpId().orElseThrow())))
                .hasValueSatisfying(message -> assertThat(message.topic()).isEqualTo("done"));
    }

    @Test
    @Shows({"OBX-090", "OBX-092", "OBX-094"})
    void oneFailedStepMakesItFail() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(2).withFollowUp(FOLLOW_UP), steps(2));
        OwnerToken owner = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids = claim(owner);

        outbox.fail(owner, ids.subList(0, 1), "no");
        assertThat(stored(join).status()).isEqualTo(JoinStatus.PENDING);
        outbox.ack(owner, ids.subList(1, 2));

        assertThat(stored(join).status()).isEqualTo(JoinStatus.FAILED);
        assertThat(counted(join)).isEqualTo("1 + 1 of 2");
        assertThat(followUps()).containsExactly("undone badly");
    }

    @Test
    @Shows("OBX-092")
    void failedStepsDoNotMatterIfItIsSaidSo() {
        JoinIdentifier join =
                outbox.fanOut(JoinEntry.of(2).withFailedByAny(false).withFollowUp(FOLLOW_UP), steps(2));

        failAll();

        assertThat(stored(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(counted(join)).isEqualTo("0 + 2 of 2");
        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    void whatHasEndedCountsWhenItIsAttached() {
        JoinIdentifier join = started(3);
        OutboxMessageIdentifier done = step();
        ackAll();
        OutboxMessageIdentifier failed = step();
        failAll();
        OutboxMessageIdentifier cancelled = step();
        outbox.cancel(cancelled);

        outbox.attach(join, List.of(done, failed, cancelled));

        assertThat(counted(join)).isEqualTo("1 + 2 of 3");
        assertThat(followUps()).containsExactly("undone badly");
    }

    @Test
    void whatIsGoneCountsAsItEndedIfTheJoinWasThereFirst() {
        keepNothing();
        JoinIdentifier join = started(3);
        OutboxMessageIdentifier done = step();
        ackAll();
        OutboxMessageIdentifier purged = step();
        failAll();
        outbox.operator("anna").purge(List.of(purged));
        OutboxMessageIdentifier failed = step();
        failAll();
        assertThat(outbox.find(done)).isEmpty();
        assertThat(outbox.find(purged)).isEmpty();

        outbox.attach(join, List.of(done, purged));
        assertThat(counted(join)).isEqualTo("1 + 1 of 3");
        outbox.attach(join, List.of(failed));

        assertThat(counted(join)).isEqualTo("1 + 2 of 3");
        assertThat(outbox.attach(join, List.of(done, purged, failed))).isZero();
    }

    @Test
    void whatWasNeverThereIsRefusedAndNothingIsAttached() {
        JoinIdentifier join = started(2);
        OutboxMessageIdentifier known = step();
        OutboxMessageIdentifier unknown = new OutboxMessageIdentifier(UUID.randomUUID());

        assertThatThrownBy(() -> outbox.attach(join, List.of(known, unknown)))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected ids of messages of outbox, got " + unknown);
        assertThatThrownBy(() -> outbox.attach(new JoinIdentifier(UUID.randomUUID()), List.of(known)))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected the id of a join");

        assertThat(joins.members(join, 10)).isEmpty();
    }

    @Test
    void thereAreNeverMoreMembersThanSteps() {
        JoinIdentifier join = started(2);
        outbox.attach(join, List.of(step(), step()));

        assertThatThrownBy(() -> outbox.attach(join, List.of(step())))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected at most 2 steps, got 3");
        assertThatThrownBy(() -> stepOf(join)).isInstanceOf(WindlassException.class);
        assertThatThrownBy(() -> outbox.fanOut(JoinEntry.of(2), steps(3)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected at most the 2 steps of the join, got 3");
        ackAll();
        assertThatThrownBy(() -> outbox.attach(join, List.of(step())))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected a pending join, got one that has ended");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Shows("OBX-033")
    void repeatedAcksCountOnce(boolean kept) {
        if (!kept) {
            keepNothing();
        }
        JoinIdentifier join = started(3);
        OutboxMessageIdentifier message = stepOf(join);
        OwnerToken owner = OwnerToken.fresh();
        claim(owner);

        outbox.ack(owner, List.of(item(message)));
        outbox.ack(owner, List.of(item(message)));
        outbox.fail(owner, List.of(item(message)), "late");

        assertThat(counted(join)).isEqualTo("1 + 0 of 3");
    }

    @Test
    void theEndOfAMessageThatOthersHoldCountsNowhere() {
        JoinIdentifier join = started(1);
        OutboxMessageIdentifier message = stepOf(join);
        claim(OwnerToken.fresh());

        outbox.ack(OwnerToken.fresh(), List.of(item(message)));

        assertThat(counted(join)).isEqualTo("0 + 0 of 1");
    }

    @Test
    @Shows("OBX-096")
    void aMessageCountsInAllItsJoins() {
        JoinIdentifier first = started(1);
        JoinIdentifier second = started(2);
        outbox.attach(second, List.of(stepOf(first)));

        ackAll();

        assertThat(stored(first).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(counted(second)).isEqualTo("1 + 0 of 2");
    }

    @Test
    void expiryCancellationAndPurgeCountAsFailed() throws SQLException {
        JoinIdentifier join = started(4);
        OutboxMessageIdentifier cancelled = stepOf(join);
        outbox.cancel(cancelled);
        OutboxMessageIdentifier purged = stepOf(join);
        failAll();
        outbox.operator("anna").purge(List.of(purged));
        outbox.enqueue(OutboxEntry.of("step", "").withJoin(join).withExpiresAt(Instant.EPOCH.plusSeconds(1)));
        database()
                .routines()
                .once(connection -> database()
                        .routines()
                        .call(connection, "outbox_expire")
                        .integer(10)
                        .count());

        assertThat(counted(join)).isEqualTo("0 + 3 of 4");
    }

    @Test
    void aRequeueTakesAFailedStepBackWhileTheJoinIsPending() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(2).withFollowUp(FOLLOW_UP), steps(1));
        failAll();
        assertThat(counted(join)).isEqualTo("0 + 1 of 2");

        outbox.operator("anna").requeue(MessageFilter.all(), Attempts.RESET);
        assertThat(counted(join)).isEqualTo("0 + 0 of 2");
        ackAll();
        joins.reportCompleted(join, UUID.randomUUID());

        assertThat(stored(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    void aRequeueAfterTheEndChangesNothing() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(1).withFollowUp(FOLLOW_UP), steps(1));
        failAll();

        outbox.operator("anna").requeue(MessageFilter.all(), Attempts.RESET);
        ackAll();

        assertThat(stored(join).status()).isEqualTo(JoinStatus.FAILED);
        assertThat(counted(join)).isEqualTo("0 + 1 of 1");
        assertThat(followUps()).containsExactly("undone badly");
    }

    @Test
    @Shows({"OBX-085", "OBX-086", "OBX-087", "OBX-088"})
    void reportsCountOnceAndLikeTheEndsOfMessages() {
        JoinIdentifier join = started(3);
        UUID step = UUID.randomUUID();
        OutboxMessageIdentifier member = stepOf(join);

        assertThat(joins.reportCompleted(join, step)).isTrue();
        assertThat(joins.reportCompleted(join, step)).isTrue();
        assertThat(joins.reportFailed(join, step)).isFalse();
        assertThat(counted(join)).isEqualTo("1 + 0 of 3");
        assertThat(joins.reportFailed(join, member.value())).isTrue();
        assertThat(joins.reportFailed(join, member.value())).isTrue();
        ackAll();
        assertThat(counted(join)).isEqualTo("1 + 1 of 3");
        joins.reportCompleted(join, UUID.randomUUID());

        assertThat(stored(join).status()).isEqualTo(JoinStatus.FAILED);
        assertThat(followUps()).containsExactly("undone badly");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Shows({"OBX-086", "OBX-088"})
    void aReportedStepIsNotCountedAgainWhenItEndsInABatchWithOthers(boolean completed) {
        JoinIdentifier join = started(3);
        UUID reported = stepOf(join).value();
        stepOf(join);
        boolean counted = completed ? joins.reportCompleted(join, reported) : joins.reportFailed(join, reported);
        assertThat(counted).isTrue();

        ackAll();

        assertThat(counted(join)).isEqualTo(completed ? "2 + 0 of 3" : "1 + 1 of 3");
    }

    @Test
    void aReportCountsInOneJoinOnly() {
        JoinIdentifier first = started(2);
        JoinIdentifier second = started(2);
        OutboxMessageIdentifier message = stepOf(first);
        outbox.attach(second, List.of(message));

        joins.reportCompleted(first, message.value());

        assertThat(counted(first)).isEqualTo("1 + 0 of 2");
        assertThat(counted(second)).isEqualTo("0 + 0 of 2");
    }

    @Test
    void whatFollowsCanBeSaidAfterTheEnd() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(1), steps(1));
        ackAll();
        assertThat(followUps()).isEmpty();

        joins.follow(join, FOLLOW_UP);

        assertThat(followUps()).containsExactly("done well");
        assertThatThrownBy(() -> joins.follow(join, FOLLOW_UP))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected a join without a follow-up");
        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    void nothingFollowsWhereNothingWasSaid() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(1).withFollowUp(FollowUp.completed("done", "")), steps(1));
        failAll();

        assertThat(stored(join).status()).isEqualTo(JoinStatus.FAILED);
        assertThat(followUps()).isEmpty();
    }

    @Test
    void whatFollowsMayBeAStepOfAnotherJoin() {
        JoinIdentifier outer = started(3);
        FollowUp inner = FollowUp.completed("inner", "").withStepOf(outer);
        outbox.fanOut(JoinEntry.of(1).withFollowUp(inner), steps(1));
        outbox.fanOut(JoinEntry.of(1).withFollowUp(FollowUp.stepOf(outer)), steps(1));
        JoinIdentifier cancelled = joins.start(JoinEntry.of(1).withFollowUp(FollowUp.stepOf(outer)));
        assertThat(stored(outer).members()).isEqualTo(3);

        ackAll();
        assertThat(counted(outer))
                .as("one has ended, one has a follow-up that is ready")
                .isEqualTo("1 + 0 of 3");
        ackAll();
        assertThat(counted(outer)).isEqualTo("2 + 0 of 3");
        joins.cancel(cancelled);

        assertThat(counted(outer)).isEqualTo("2 + 1 of 3");
        assertThat(followUps()).containsExactly("undone badly");
    }

    @Test
    void aCancelledJoinStaysCancelled() {
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(2).withFollowUp(FOLLOW_UP), steps(2));

        assertThat(joins.cancel(join)).isTrue();
        assertThat(joins.cancel(join)).as("whoever repeats it is told the same").isTrue();
        ackAll();

        assertThat(stored(join).status()).isEqualTo(JoinStatus.CANCELLED);
        assertThat(counted(join)).isEqualTo("0 + 0 of 2");
        assertThat(followUps()).isEmpty();
        assertThatThrownBy(() -> joins.reportCompleted(join, UUID.randomUUID())).isInstanceOf(WindlassException.class);
        JoinIdentifier ended = outbox.fanOut(JoinEntry.of(1), steps(1));
        ackAll();
        assertThat(joins.cancel(ended)).isFalse();
    }

    @Test
    void underADeduplicationKeyTheFirstIsTheStep() {
        OutboxEntry once = OutboxEntry.of("step", "").withDeduplication("key", Duration.ofDays(1));
        OutboxMessageIdentifier first = outbox.enqueue(once);
        JoinIdentifier join = started(3);

        assertThat(outbox.enqueue(once.withJoin(join))).isEqualTo(first);
        assertThat(outbox.enqueueAll(
                        List.of(once.withJoin(join), OutboxEntry.of("step", "").withJoin(join))))
                .contains(first);

        assertThat(stored(join).members()).isEqualTo(2);
        ackAll();
        assertThat(counted(join)).isEqualTo("2 + 0 of 3");
    }

    @Test
    void membersKeepTheOrderOfTheirKeys() {
        JoinIdentifier join = started(2);
        List<OutboxEntry> entries = steps(2).stream()
                .map(step -> step.withOrderingKey("key").withJoin(join))
                .toList();
        outbox.enqueueAll(entries);

        ackAll();
        assertThat(counted(join)).isEqualTo("1 + 0 of 2");
        ackAll();

        assertThat(followUps()).containsExactly("done well");
    }

    @Test
    void aRollbackTakesAllOfItBack() throws SQLException {
        JoinIdentifier[] made = new JoinIdentifier[2];
        JoinIdentifier before = started(1);
        try (Connection connection = database().transaction()) {
            made[0] = outbox.fanOut(connection, JoinEntry.of(2).withFollowUp(FOLLOW_UP), steps(2));
            made[1] = joins.start(connection, JoinEntry.of(1));
            joins.follow(connection, made[1], FOLLOW_UP);
            joins.reportCompleted(connection, made[1], UUID.randomUUID());
            outbox.attach(connection, before, List.of(outbox.enqueue(connection, OutboxEntry.of("step", ""))));
            joins.cancel(connection, made[0]);
            connection.rollback();
        }

        assertThat(joins.find(made[0])).isEmpty();
        assertThat(joins.find(made[1])).isEmpty();
        assertThat(stored(before).members()).isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox"))
                .isZero();
    }

    @Test
    void messagesOfTheInboxAreStepsToo() {
        Windlass windlass = database()
                .start(database().windlass().options(database().options().withBackgroundWorkers(false)));
        Inbox inbox = windlass.inbox();
        JoinIdentifier join = started(4);
        for (int i = 0; i < 3; i++) {
            inbox.enqueue(InboxEntry.of("shop", "m" + i, "step", ""));
        }
        OwnerToken owner = OwnerToken.fresh();
        List<InboxMessage> claimed = inbox.claim(owner, LEASE, 10);
        inbox.ack(owner, List.of(claimed.get(0).id()));

        for (int i = 0; i < 3; i++) {
            assertThat(inbox.attach(join, "shop", "m" + i)).isTrue();
            assertThat(inbox.attach(join, "shop", "m" + i)).isFalse();
        }
        assertThat(counted(join)).isEqualTo("1 + 0 of 4");
        inbox.ack(owner, List.of(claimed.get(1).id()));
        inbox.fail(owner, List.of(claimed.get(2).id()), "no");
        assertThat(counted(join)).isEqualTo("2 + 1 of 4");
        inbox.operator("anna").requeue(MessageFilter.all(), Attempts.RESET);
        assertThat(counted(join)).isEqualTo("2 + 0 of 4");

        inbox.begin("shop", "unqueued");
        assertThatThrownBy(() -> inbox.attach(join, "shop", "unqueued"))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected a message that is queued, got one that is not");
        assertThat(stored(join).members()).isEqualTo(3);
    }

    /** Somebody processes the message without the queue: its copy may be dropped, and would never end. */
    @Test
    void aCopyThatWaitsInTheInboxIsNoStepYet() {
        Inbox inbox = database()
                .start(database().windlass().options(database().options().withBackgroundWorkers(false)))
                .inbox();
        JoinIdentifier join = started(1);
        inbox.begin("shop", "m");
        inbox.enqueue(InboxEntry.of("shop", "m", "step", ""));
        UUID copy = database().value(UUID.class, "select id from %s.inbox where status = 4");

        assertThatThrownBy(() -> database()
                        .routines()
                        .once(connection -> database()
                                .routines()
                                .call(connection, "inbox_attach")
                                .uuid(join.value())
                                .uuids(List.of(copy))
                                .count()))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("expected ids of messages of inbox");

        assertThat(stored(join).members()).isZero();
    }

    @Test
    void aFanOutThatIsRefusedWritesNothing() {
        keepNothing();
        OutboxEntry once = OutboxEntry.of("step", "").withDeduplication("key", Duration.ofDays(1));
        outbox.enqueue(once);
        ackAll();

        assertThatThrownBy(() -> outbox.fanOut(
                        JoinEntry.of(2).withFollowUp(FOLLOW_UP), List.of(OutboxEntry.of("step", ""), once)))
                .as("the first under the key is gone, and nobody knows how it ended")
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected ids of messages of outbox");
        assertThatThrownBy(() -> joins.start(
                        JoinEntry.of(1).withFollowUp(FollowUp.stepOf(new JoinIdentifier(UUID.randomUUID())))))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected the id of a join");

        assertThat(joins.list(JoinFilter.all(), 10)).isEmpty();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox"))
                .isZero();
    }

    @Test
    void whatEndedLongAgoIsCleanedUpWithItsMembers() throws SQLException {
        JoinIdentifier old = outbox.fanOut(JoinEntry.of(5), steps(5));
        ackAll();
        JoinIdentifier ended = outbox.fanOut(JoinEntry.of(1), steps(1));
        ackAll();
        JoinIdentifier pending = outbox.fanOut(JoinEntry.of(1), steps(1));
        Instant longAgo = database().now().minus(Duration.ofDays(31));
        database().update("update %s.windlass_join set created_at = ?", longAgo);
        database().update("update %s.windlass_join set ended_at = ? where id = ?", longAgo, old.value());

        assertThat(cleanAll()).isEqualTo(6);
        assertThat(joins.list(JoinFilter.all(), 10)).extracting(Join::id).containsExactlyInAnyOrder(ended, pending);
        assertThat(database().value(Long.class, "select count(*) from %s.windlass_join_member"))
                .isEqualTo(2);
    }

    private int cleanAll() throws SQLException {
        int deleted = 0;
        for (int last = clean(); last > 0; last = clean()) {
            deleted += last;
        }
        return deleted;
    }

    /** A batch of two. */
    private int clean() throws SQLException {
        JoinStore store = new JoinStore(database().routines(), "outbox");
        return database().routines().once(connection -> store.clean(connection, 2));
    }

    @Test
    void aJoinIsNoStepOfItselfNorOfWhatWaitsForIt() {
        JoinIdentifier outer = joins.start(JoinEntry.of(1));
        JoinIdentifier middle = joins.start(JoinEntry.of(2).withFollowUp(FollowUp.stepOf(outer)));
        JoinIdentifier inner = joins.start(JoinEntry.of(1).withFollowUp(FollowUp.stepOf(middle)));

        for (JoinIdentifier within : List.of(outer, middle, inner)) {
            assertThatThrownBy(() -> joins.follow(outer, FollowUp.stepOf(within)))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining(
                            "expected an outer join that can end before this one, got one that waits for it");
        }

        assertThat(stored(middle).members()).isEqualTo(1);
        joins.reportCompleted(inner, UUID.randomUUID());
        joins.reportCompleted(middle, UUID.randomUUID());
        assertThat(stored(outer).status()).isEqualTo(JoinStatus.COMPLETED);
    }

    @Test
    void anInnerJoinEndsThoughItsOuterOneWasCancelledAndIsGone() throws SQLException {
        JoinIdentifier outer = joins.start(JoinEntry.of(1));
        JoinIdentifier inner = outbox.fanOut(JoinEntry.of(1).withFollowUp(FOLLOW_UP.withStepOf(outer)), steps(1));
        joins.cancel(outer);
        Instant longAgo = database().now().minus(Duration.ofDays(31));
        database().update("update %s.windlass_join set ended_at = ? where id = ?", longAgo, outer.value());
        cleanAll();
        assertThat(joins.find(outer)).isEmpty();

        ackAll();

        assertThat(stored(inner).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(followUps()).containsExactly("done well");
    }

    /** So that whoever erases the message has erased its content everywhere. */
    @Test
    void theContentOfWhatFollowsIsNotKeptWithAJoinThatHasEnded() {
        JoinIdentifier ended = outbox.fanOut(JoinEntry.of(1).withFollowUp(FOLLOW_UP), steps(1));
        ackAll();
        JoinIdentifier cancelled = started(1);
        joins.cancel(cancelled);
        JoinIdentifier late = outbox.fanOut(JoinEntry.of(1), steps(1));
        ackAll();
        joins.follow(late, FOLLOW_UP);

        for (JoinIdentifier join : List.of(ended, cancelled, late)) {
            assertThat(database()
                            .value(
                                    Long.class,
                                    "select count(*) from %s.windlass_join where id = ?"
                                            + " and complete_payload is null and fail_payload is null",
                                    join.value()))
                    .isEqualTo(1);
        }
        assertThat(followUps()).containsExactly("done well", "done well");
    }

    @Test
    void whatWasNotedForJoinsThatHaveEndedIsForgotten() throws SQLException {
        keepNothing();
        JoinIdentifier join = started(10);
        for (int i = 0; i < 7; i++) {
            step();
        }
        ackAll();
        String notes = "select count(*) from %s.windlass_join_gone";
        database()
                .update(
                        "update %s.windlass_join_gone set gone_at = ?",
                        database().now().minus(Duration.ofHours(2)));
        database()
                .update(
                        "update %s.windlass_join set created_at = ?",
                        database().now().minus(Duration.ofHours(3)));
        cleanAll();
        assertThat(database().value(Long.class, notes))
                .as("while the join is pending")
                .isEqualTo(7);

        joins.cancel(join);
        cleanAll();

        assertThat(database().value(Long.class, notes)).isZero();
    }

    @Test
    void whatWasNotedBeforeEveryPendingJoinIsForgottenToo() throws SQLException {
        keepNothing();
        JoinIdentifier first = started(10);
        step();
        ackAll();
        database()
                .update(
                        "update %s.windlass_join_gone set gone_at = ?",
                        database().now().minus(Duration.ofHours(2)));
        started(1);
        joins.cancel(first);

        cleanAll();

        assertThat(database().value(Long.class, "select count(*) from %s.windlass_join_gone"))
                .isZero();
    }

    @Test
    void aStepThatIsReportedNeedsAnId() {
        JoinIdentifier join = started(1);

        assertThatThrownBy(() -> joins.reportCompleted(join, new UUID(0, 0)))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("expected the id of a step, got 00000000-0000-0000-0000-000000000000");

        assertThat(stored(join).members()).isZero();
    }

    @Test
    void stepsOfAnotherJoinAreNotTakenFromIt() {
        JoinIdentifier other = started(1);
        List<OutboxEntry> taken = List.of(OutboxEntry.of("step", "").withJoin(other));

        refused(() -> outbox.fanOut(JoinEntry.of(1), taken), "expected steps that are of no join yet, got one of join");

        assertThat(joins.list(JoinFilter.all(), 10)).extracting(Join::id).containsExactly(other);
    }

    @Test
    void badArgumentsAreRefusedBeforeAnySql() {
        JoinIdentifier join = new JoinIdentifier(UUID.randomUUID());
        refused(() -> JoinEntry.of(0), "expected a positive number of steps, got 0");
        refused(() -> JoinEntry.of(1).withGroupingKey(" "), "expected a grouping key, got blank text");
        refused(() -> JoinEntry.of(1).withGroupingKey("k".repeat(256)), "of at most 255 characters, got 256");
        refused(() -> JoinEntry.of(1).withMetadata("\0"), "without NUL characters");
        refused(() -> FollowUp.completed("", "x"), "expected a topic, got blank text");
        refused(() -> FollowUp.failed("t".repeat(256), ""), "of at most 255 characters, got 256");
        refused(() -> new FollowUp(null, null, null), "expected what follows a join, got nothing");
        refused(() -> joins.list(JoinFilter.all(), 0), "expected a positive limit, got 0");
        refused(() -> joins.members(join, -1), "expected a positive limit, got -1");
        assertThat(FOLLOW_UP.toString()).doesNotContain("badly").doesNotContain("well");
    }

    private static void refused(Runnable call, String why) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }
}
