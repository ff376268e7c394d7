package dev.windlass.work;

import dev.windlass.base.HandlerOptions;
import dev.windlass.base.QueueOptions;
import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * How the work queue of one table works.
 *
 * @param tableName the table; its indexes and routines have names that start with it
 * @param queue how a node works on it
 * @param ageing an item that has waited for so much longer than one of the next higher priority comes first, so that nothing waits for
 *     ever; zero: priorities are strict
 */
public record WorkOptions(String tableName, QueueOptions queue, Duration ageing) {

    public WorkOptions {
        Require.identifier("table name", tableName);
        Require.present("set of queue options", queue);
        Require.notNegative("ageing", ageing);
    }

    public static WorkOptions defaults() {
        return new WorkOptions("work", QueueOptions.defaults(), Duration.ofHours(1));
    }

    public WorkOptions withTableName(String tableName) {
        return new WorkOptions(tableName, queue, ageing);
    }

    public WorkOptions withQueue(QueueOptions queue) {
        return new WorkOptions(tableName, queue, ageing);
    }

    public WorkOptions withAgeing(Duration ageing) {
        return new WorkOptions(tableName, queue, ageing);
    }

    public WorkOptions withPollingInterval(Duration pollingInterval) {
        return withQueue(queue.withPollingInterval(pollingInterval));
    }

    public WorkOptions withBatchSize(int batchSize) {
        return withQueue(queue.withBatchSize(batchSize));
    }

    public WorkOptions withLease(Duration lease) {
        return withQueue(queue.withLease(lease));
    }

    public WorkOptions withConcurrency(int concurrency) {
        return withQueue(queue.withConcurrency(concurrency));
    }

    public WorkOptions withRetention(Duration retention) {
        return withQueue(queue.withRetention(retention));
    }

    public WorkOptions withMaxLeaseExpiries(int maxLeaseExpiries) {
        return withQueue(queue.withMaxLeaseExpiries(maxLeaseExpiries));
    }

    public WorkOptions withHandlers(HandlerOptions handlers) {
        return withQueue(queue.withHandlers(handlers));
    }
}
