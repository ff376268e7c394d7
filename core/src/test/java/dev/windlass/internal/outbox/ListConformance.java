package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Page;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages of every state, listed. */
@OnEveryEngine
final class ListConformance extends OutboxConformance {
    private OutboxOperator anna;

    @BeforeEach
    void signIn() {
        anna = outbox.operator("anna");
    }

    private static MessageFilter of(WorkStatus status) {
        return MessageFilter.all().withStatus(status);
    }

    private List<OutboxMessageIdentifier> list(MessageFilter filter) {
        return anna.list(filter, 100).stream().map(ListedMessage::id).toList();
    }

    private List<OutboxMessageIdentifier> paged(MessageFilter filter, int size) {
        List<OutboxMessageIdentifier> ids = new ArrayList<>();
        Page<ListedMessage> page = anna.list(filter, size);
        page.forEach(message -> ids.add(message.id()));
        while (page.next().isPresent()) {
            page = anna.list(filter, size, page.next().orElseThrow());
            page.forEach(message -> ids.add(message.id()));
        }
        return ids;
    }

    /** Five of a state, two of them of topic b. */
    private List<OutboxMessageIdentifier> five(WorkStatus status) {
        List<OutboxMessageIdentifier> ids = new ArrayList<>();
        if (status == WorkStatus.WAITING) {
            outbox.enqueue(OutboxEntry.of("a", "").withOrderingKey("k"));
        }
        for (int i = 0; i < 5; i++) {
            OutboxEntry entry = OutboxEntry.of(i < 3 ? "a" : "b", "secret");
            ids.add(outbox.enqueue(status == WorkStatus.WAITING ? entry.withOrderingKey("k") : entry));
        }
        OwnerToken owner = OwnerToken.fresh();
        switch (status) {
            case READY, WAITING -> {}
            case IN_PROGRESS -> assertThat(claim(owner, 5)).hasSize(5);
            case DONE -> outbox.ack(owner, claim(owner, 5));
            case FAILED -> outbox.fail(owner, claim(owner, 5), "no");
            case CANCELLED -> ids.forEach(outbox::cancel);
        }
        return ids;
    }

    @ParameterizedTest
    @EnumSource
    void messagesOfAStateAreListedAlsoPageByPageAndOthersAreNot(WorkStatus status) {
        List<OutboxMessageIdentifier> five = five(status);
        for (WorkStatus other : WorkStatus.values()) {
            if (other == status) {
                assertThat(list(of(other))).containsExactlyInAnyOrderElementsOf(five);
            } else if (status != WorkStatus.WAITING) {
                assertThat(list(of(other))).isEmpty();
            }
        }
        assertThat(paged(of(status), 2)).isEqualTo(list(of(status)));
        assertThat(list(of(status).withTopic("b"))).containsExactlyInAnyOrder(five.get(3), five.get(4));
        assertThat(paged(of(status).withTopic("b"), 1))
                .isEqualTo(list(of(status).withTopic("b")));
        assertThat(anna.list(of(status), 10)).allSatisfy(message -> {
            assertThat(message.status()).isEqualTo(status);
            assertThat(message.toString()).contains(message.id().value().toString());
        });
    }

    @ParameterizedTest
    @EnumSource
    void aTimeNarrowsTheListOfAState(WorkStatus status) {
        five(status);
        Instant at = anna.list(of(status), 1).get(0).at();
        assertThat(list(of(status).withFrom(at.minusSeconds(60)).withUntil(at.plusSeconds(60))))
                .hasSize(5);
        assertThat(list(of(status).withFrom(at.plusSeconds(60)))).isEmpty();
        assertThat(list(of(status).withUntil(at.minusSeconds(60)))).isEmpty();
    }

    @Test
    void readyMessagesComeTheNextDueFirstWhateverTheirTopic() {
        Instant noon = Instant.parse("2999-01-01T12:00:00Z");
        OutboxMessageIdentifier later = outbox.enqueue(OutboxEntry.of("a", "").withDueTime(noon.plusSeconds(2)));
        OutboxMessageIdentifier next = outbox.enqueue(OutboxEntry.of("b", "").withDueTime(noon));
        OutboxMessageIdentifier between = outbox.enqueue(OutboxEntry.of("c", "").withDueTime(noon.plusSeconds(1)));
        assertThat(paged(of(WorkStatus.READY), 1)).containsExactly(next, between, later);
        assertThat(anna.list(of(WorkStatus.READY), 1).get(0).at()).isEqualTo(noon);
    }

    @Test
    void aMessageThatIsNeverDueIsListedToo() {
        OutboxMessageIdentifier never = enqueue("a");
        database().update("update %s.outbox set next_attempt_at = ? where id = ?", Instant.MAX, never.value());
        assertThat(list(of(WorkStatus.READY))).containsExactly(never);
        assertThat(list(of(WorkStatus.READY).withUntil(Instant.parse("2999-01-01T00:00:00Z"))))
                .isEmpty();
    }

    @Test
    void endedMessagesComeTheLatestFirst() {
        OutboxMessageIdentifier first = failed("a", "one");
        OutboxMessageIdentifier second = failed("b", "two");
        assertThat(list(of(WorkStatus.FAILED))).containsExactly(second, first);
    }

    @Test
    void messagesThatWaitComeKeyByKeyInTheirOrder() {
        List<OutboxMessageIdentifier> ids = new ArrayList<>();
        for (String key : List.of("x", "y", "x", "y", "x")) {
            ids.add(outbox.enqueue(OutboxEntry.of("a", "").withOrderingKey(key)));
        }
        assertThat(paged(of(WorkStatus.WAITING), 1)).containsExactly(ids.get(2), ids.get(4), ids.get(3));
    }

    @Test
    void aPageAlsoBeginsAfterAMessageThatIsGone() {
        for (WorkStatus status : WorkStatus.values()) {
            five(status);
            Page<ListedMessage> first = anna.list(of(status), 1);
            database()
                    .update(
                            "delete from %s.outbox where id = ?",
                            first.get(0).id().value());
            assertThat(anna.list(of(status), 10, first.next().orElseThrow())).hasSize(4);
            database().update("delete from %s.outbox");
            database().update("delete from %s.outbox_key");
        }
    }

    @Test
    void allStatesTogetherComeTheLatestCreatedFirst() {
        OutboxMessageIdentifier failed = failed("a", "no");
        OutboxMessageIdentifier ready = enqueue("b");
        OutboxMessageIdentifier cancelled = enqueue("c");
        outbox.cancel(cancelled);
        assertThat(list(MessageFilter.all())).containsExactly(cancelled, ready, failed);
        assertThat(paged(MessageFilter.all(), 1)).containsExactly(cancelled, ready, failed);
        assertThat(list(MessageFilter.all().withTopic("b"))).containsExactly(ready);
    }

    @Test
    void aListedMessageTellsWhatIsKnownOfIt() {
        outbox.enqueue(
                OutboxEntry.of("a", "secret").withCorrelationId("order 7").withOrderingKey("key"));
        fail("the printer is on fire");
        ListedMessage message = anna.list(MessageFilter.all(), 1).get(0);
        assertThat(message.correlationId()).contains("order 7");
        assertThat(message.orderingKey()).contains("key");
        assertThat(message.lastError()).contains("the printer is on fire");
        assertThat(message.endedBy()).isPresent();
        assertThat(message.at()).isEqualTo(message.createdAt());
        assertThat(message.toString()).doesNotContain("fire");
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        Instant now = Instant.parse("2026-08-01T10:00:00Z");
        assertThatThrownBy(() -> anna.list(MessageFilter.all(), 0)).hasMessageContaining("expected a positive limit");
        assertThatThrownBy(() -> MessageFilter.all().withTopic(" ")).hasMessageContaining("expected a topic");
        assertThatThrownBy(() -> MessageFilter.all().withFrom(now).withUntil(now))
                .hasMessageContaining("expected a time that begins before it ends");
    }
}
