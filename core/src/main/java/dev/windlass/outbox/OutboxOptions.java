package dev.windlass.outbox;

import dev.windlass.base.HandlerOptions;
import dev.windlass.base.QueueOptions;
import dev.windlass.internal.support.Require;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the outbox of one table works.
 *
 * @param tableName the table; its indexes, join tables and routines have names that start with it
 * @param queue how a node works on it; a retention of zero deletes handled messages at once, which is faster
 * @param failedHead what becomes of the messages behind one that has failed, under the same ordering key
 * @param failedHeads the same for topics that differ
 */
public record OutboxOptions(
        String tableName, QueueOptions queue, FailedHead failedHead, Map<String, FailedHead> failedHeads) {

    public OutboxOptions {
        Require.identifier("table name", tableName);
        Require.present("set of queue options", queue);
        Require.present("choice for failed heads", failedHead);
        failedHeads = Map.copyOf(Require.present("map of choices for failed heads", failedHeads));
    }

    public static OutboxOptions defaults() {
        return new OutboxOptions("outbox", QueueOptions.defaults(), FailedHead.BLOCKS, Map.of());
    }

    public OutboxOptions withTableName(String tableName) {
        return new OutboxOptions(tableName, queue, failedHead, failedHeads);
    }

    public OutboxOptions withQueue(QueueOptions queue) {
        return new OutboxOptions(tableName, queue, failedHead, failedHeads);
    }

    public OutboxOptions withFailedHead(FailedHead failedHead) {
        return new OutboxOptions(tableName, queue, failedHead, failedHeads);
    }

    public OutboxOptions withFailedHead(String topic, FailedHead failedHead) {
        Require.text("topic", topic, 255);
        Require.present("choice for failed heads", failedHead);
        Map<String, FailedHead> changed = new HashMap<>(failedHeads);
        changed.put(topic, failedHead);
        return new OutboxOptions(tableName, queue, this.failedHead, changed);
    }

    public OutboxOptions withPollingInterval(Duration pollingInterval) {
        return withQueue(queue.withPollingInterval(pollingInterval));
    }

    public OutboxOptions withBatchSize(int batchSize) {
        return withQueue(queue.withBatchSize(batchSize));
    }

    public OutboxOptions withLease(Duration lease) {
        return withQueue(queue.withLease(lease));
    }

    public OutboxOptions withConcurrency(int concurrency) {
        return withQueue(queue.withConcurrency(concurrency));
    }

    public OutboxOptions withRetention(Duration retention) {
        return withQueue(queue.withRetention(retention));
    }

    public OutboxOptions withMaxLeaseExpiries(int maxLeaseExpiries) {
        return withQueue(queue.withMaxLeaseExpiries(maxLeaseExpiries));
    }

    public OutboxOptions withHandlers(HandlerOptions handlers) {
        return withQueue(queue.withHandlers(handlers));
    }

    public FailedHead failedHeadOf(@Nullable String topic) {
        return topic == null ? failedHead : failedHeads.getOrDefault(topic, failedHead);
    }
}
