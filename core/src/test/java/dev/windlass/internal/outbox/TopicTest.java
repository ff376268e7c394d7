package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.Topic;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Topics with a type: whoever writes and whoever handles agree, or do not compile. */
final class TopicTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    record OrderPlaced(String customer, long cents) {}

    private static final Topic<OrderPlaced> ORDER_PLACED = Topic.of("order.placed", OrderPlaced.class);
    private static final Topic<String> NOTE = Topic.of("note", String.class);

    private final Queue<Object> handled = new ConcurrentLinkedQueue<>();

    private Windlass node() {
        return database.start(database.windlass()
                .outboxHandler(ORDER_PLACED, (order, message) -> handled.add(order))
                .outboxHandler(NOTE, (note, message) -> handled.add(note)));
    }

    @Test
    void whatIsWrittenArrivesAsItsType() throws Exception {
        Windlass windlass = node();
        OrderPlaced alone = new OrderPlaced("anna", 4200);
        OrderPlaced inTransaction = new OrderPlaced("bert \"\u00fc\" \uD83D\uDE00", Long.MAX_VALUE);

        windlass.outbox().enqueue(ORDER_PLACED, alone);
        windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, ORDER_PLACED, inTransaction));
        windlass.outbox().enqueue(NOTE, "plain text");

        eventually().until(() -> handled.size() == 3);
        assertThat(handled).containsExactlyInAnyOrder(alone, inTransaction, "plain text");
    }

    @Test
    void anEntryOfATypedTopicCanSayMore() {
        Windlass windlass = node();
        OutboxEntry entry = windlass.outbox()
                .entry(ORDER_PLACED, new OrderPlaced("anna", 1))
                .withDeduplication("order 7", Duration.ofHours(1));

        OutboxMessageIdentifier first = windlass.outbox().enqueue(entry);

        assertThat(windlass.outbox().enqueue(entry)).isEqualTo(first);
        assertThat(entry.topic()).isEqualTo("order.placed");
        eventually().until(() -> database.count("status = 2") == 1);
        assertThat(handled).containsExactly(new OrderPlaced("anna", 1));
    }

    @Test
    void aPayloadThatIsNotOfTheTypeFailsAndDisturbsNobody() {
        HandlerOptions once =
                HandlerOptions.defaults().withRetry(RetryPolicy.defaults().withMaxAttempts(1));
        Windlass windlass = database.start(
                database.windlass().outboxHandler(ORDER_PLACED, once, (order, message) -> handled.add(order)));

        OutboxMessageIdentifier bad = windlass.outbox().enqueue(OutboxEntry.of("order.placed", "not an order"));
        windlass.outbox().enqueue(ORDER_PLACED, new OrderPlaced("anna", 1));

        eventually().until(() -> database.count("status = 3") == 1 && database.count("status = 2") == 1);
        assertThat(windlass.outbox().failures(bad)).hasSize(1);
        assertThat(handled).containsExactly(new OrderPlaced("anna", 1));
    }
}
