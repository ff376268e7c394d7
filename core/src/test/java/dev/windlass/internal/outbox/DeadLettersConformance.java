package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.operator.Page;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Failed messages, listed and chosen. */
@OnEveryEngine
final class DeadLettersConformance extends OutboxConformance {
    private OutboxOperator anna;

    @BeforeEach
    void signIn() {
        anna = outbox.operator("anna");
    }

    private List<OutboxMessageIdentifier> list(MessageFilter filter) {
        return ids(anna.list(filter, 100));
    }

    private static List<OutboxMessageIdentifier> ids(List<ListedMessage> letters) {
        return letters.stream().map(ListedMessage::id).toList();
    }

    private void failedAt(OutboxMessageIdentifier id, String time) {
        database().update("update %s.outbox set ended_at = ? where id = ?", Instant.parse(time), id.value());
    }

    @Test
    void failedMessagesAreListedTheLatestFirstAndOthersAreNot() {
        OutboxMessageIdentifier first = failed("a", "one");
        OutboxMessageIdentifier second = failed("b", "two");
        enqueue("a");
        outbox.cancel(enqueue("a"));

        assertThat(list(MessageFilter.failed())).containsExactly(second, first);
        assertThat(ids(anna.list(MessageFilter.failed(), 1))).containsExactly(second);
    }

    @Test
    void aDeadLetterTellsWhatIsKnownOfIt() {
        OutboxMessageIdentifier id = outbox.enqueue(
                OutboxEntry.of("a", "secret").withCorrelationId("order 7").withOrderingKey("key"));
        fail("the printer is on fire");
        OutboxMessage message = stored(workItem(id));

        ListedMessage letter = anna.list(MessageFilter.failed(), 10).get(0);

        assertThat(letter.id()).isEqualTo(id);
        assertThat(letter.topic()).isEqualTo("a");
        assertThat(letter.correlationId()).contains("order 7");
        assertThat(letter.orderingKey()).contains("key");
        assertThat(letter.blocksKey()).isTrue();
        assertThat(letter.createdAt()).isEqualTo(message.createdAt());
        assertThat(letter.at()).isEqualTo(message.endedAt().orElseThrow());
        assertThat(letter.endedBy()).contains("node-1");
        assertThat(letter.lastError()).contains("the printer is on fire");
        assertThat(letter.isErased()).isFalse();
        assertThat(letter.toString()).doesNotContain("printer");
        anna.erase(List.of(id));
        assertThat(anna.list(MessageFilter.failed(), 10).get(0).isErased()).isTrue();
    }

    @Test
    void aFilterTakesATopicExactly() {
        OutboxMessageIdentifier id = failed("topic", "x");
        failed("Topic", "x");
        failed("topic.more", "x");

        assertThat(list(MessageFilter.failed().withTopic("topic"))).containsExactly(id);
        assertThat(list(MessageFilter.failed().withTopic("%"))).isEmpty();
    }

    @Test
    void aFilterTakesATimeWithItsBeginningAndWithoutItsEnd() {
        OutboxMessageIdentifier before = failed("a", "x");
        OutboxMessageIdentifier at = failed("a", "x");
        OutboxMessageIdentifier end = failed("a", "x");
        failedAt(before, "2025-01-01T09:59:59.999999Z");
        failedAt(at, "2025-01-01T10:00:00Z");
        failedAt(end, "2025-01-01T11:00:00Z");
        Instant ten = Instant.parse("2025-01-01T10:00:00Z");
        MessageFilter from = MessageFilter.failed().withFrom(ten);

        for (MessageFilter filter : List.of(from, from.withTopic("a"))) {
            assertThat(list(filter)).containsExactly(end, at);
            assertThat(list(filter.withUntil(ten.plusSeconds(3600)))).containsExactly(at);
            assertThat(list(filter.withFrom(null).withUntil(ten))).containsExactly(before);
        }
    }

    @Test
    void aFilterTakesAPartOfTheErrorInWhateverCase() {
        OutboxMessageIdentifier timeout = failed("a", "java.net.SocketTimeoutException: Read timed out");
        failed("a", "refused");
        MessageFilter filter = MessageFilter.failed().withError("sockettimeout");

        assertThat(list(filter)).containsExactly(timeout);
        assertThat(list(filter.withTopic("a"))).containsExactly(timeout);
        assertThat(list(filter.withTopic("b"))).isEmpty();
        assertThat(list(filter.withError("READ TIMED"))).containsExactly(timeout);
    }

    @Test
    void whatPatternsAreMadeOfIsPlainTextInAFilter() {
        OutboxMessageIdentifier percent = failed("a", "100 % full");
        OutboxMessageIdentifier underscore = failed("a", "no such column a_b");
        OutboxMessageIdentifier backslash = failed("a", "C:\\temp [x] (y)* .?");
        failed("a", "plain axb");

        assertThat(list(MessageFilter.failed().withError("0 % f"))).containsExactly(percent);
        assertThat(list(MessageFilter.failed().withError("%"))).containsExactly(percent);
        assertThat(list(MessageFilter.failed().withError("a_b"))).containsExactly(underscore);
        assertThat(list(MessageFilter.failed().withError("c:\\TEMP [x] (Y)* .?")))
                .containsExactly(backslash);
    }

    @Test
    void pagesShowEachOfManyThatFailedTogetherOnce() {
        Set<OutboxMessageIdentifier> all = new HashSet<>(failed("a", 25));
        all.addAll(failed("b", 10));
        all.add(failed("a", "later"));

        for (int size : List.of(1, 4, 36, 50)) {
            assertThat(pages(MessageFilter.failed(), size, () -> {}))
                    .doesNotHaveDuplicates()
                    .containsExactlyInAnyOrderElementsOf(all);
        }
        assertThat(pages(MessageFilter.failed().withTopic("a"), 7, () -> {})).hasSize(26);
    }

    @Test
    void pagesHaveNeitherGapsNorRepeatsWhileOthersFailAndArePurged() {
        List<OutboxMessageIdentifier> all = failed("a", 40);
        Collection<OutboxMessageIdentifier> purged = new ArrayList<>();

        List<OutboxMessageIdentifier> seen = pages(MessageFilter.failed(), 5, () -> {
            failed("a", "new");
            OutboxMessageIdentifier next = all.get(purged.size());
            anna.purge(List.of(next));
            purged.add(next);
        });

        assertThat(seen).doesNotHaveDuplicates();
        List<OutboxMessageIdentifier> stayed = new ArrayList<>(all);
        stayed.removeAll(purged);
        assertThat(seen).containsAll(stayed);
        assertThat(all).as("what failed after the first page is on none").containsAll(seen);
    }

    private List<OutboxMessageIdentifier> pages(MessageFilter filter, int size, Runnable between) {
        List<OutboxMessageIdentifier> seen = new ArrayList<>();
        Page<ListedMessage> page = anna.list(filter, size);
        seen.addAll(ids(page));
        while (page.next().isPresent()) {
            assertThat(page).hasSize(size);
            between.run();
            page = anna.list(filter, size, page.next().orElseThrow());
            seen.addAll(ids(page));
        }
        return seen;
    }

    @Test
    void actionsAreListedTheLatestFirstInPages() {
        for (String topic : List.of("a", "b", "c", "d", "e")) {
            anna.pause(topic, "");
        }
        Page<OperatorAction> first = anna.actions(2);
        Page<OperatorAction> second = anna.actions(2, first.next().orElseThrow());
        Page<OperatorAction> third = anna.actions(2, second.next().orElseThrow());

        List<OperatorAction> all = new ArrayList<>(first);
        all.addAll(second);
        all.addAll(third);
        assertThat(all).isEqualTo(anna.actions(100)).hasSize(5);
        assertThat(all.get(0).detail()).contains("\"e\"");
        assertThat(all).extracting(OperatorAction::number).doesNotHaveDuplicates();
        assertThat(third.next()).isEmpty();
        assertThat(anna.actions(5, anna.actions(5).next().orElseThrow())).isEmpty();
    }
}
