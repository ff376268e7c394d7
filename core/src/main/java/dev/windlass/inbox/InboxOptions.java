package dev.windlass.inbox;

import dev.windlass.base.HandlerOptions;
import dev.windlass.base.QueueOptions;
import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * How the inbox of one table works.
 *
 * @param tableName the table; its indexes and routines have names that start with it
 * @param queue how a node works on what is queued; its retention is how long the inbox remembers what has been processed, queued or
 *     not: deliveries that come later are processed again
 * @param guardLease how long who begins a message has it, unless it renews; {@link Inbox#process} does, others have to
 * @param renewAtMost for how long {@link Inbox#process} renews, so that work which hangs does not keep its message for ever; zero:
 *     not at all
 * @param waitAtMost how long {@link Inbox#alreadyProcessed} waits for somebody else's outcome
 * @param maxAttempts after how many attempts a message that is processed without the queue is given up
 */
public record InboxOptions(
        String tableName,
        QueueOptions queue,
        Duration guardLease,
        Duration renewAtMost,
        Duration waitAtMost,
        int maxAttempts) {

    public InboxOptions {
        Require.identifier("table name", tableName);
        Require.present("set of queue options", queue);
        Require.positive("retention", queue.retention());
        Require.positive("guard lease", guardLease);
        Require.notNegative("longest time of renewals", renewAtMost);
        Require.notNegative("longest wait", waitAtMost);
        Require.positive("number of attempts", maxAttempts);
    }

    public static InboxOptions defaults() {
        return new InboxOptions(
                "inbox",
                QueueOptions.defaults().withBatchSize(20).withRetention(Duration.ofDays(30)),
                Duration.ofMinutes(5),
                Duration.ofHours(1),
                Duration.ofSeconds(30),
                5);
    }

    public InboxOptions withTableName(String tableName) {
        return new InboxOptions(tableName, queue, guardLease, renewAtMost, waitAtMost, maxAttempts);
    }

    public InboxOptions withQueue(QueueOptions queue) {
        return new InboxOptions(tableName, queue, guardLease, renewAtMost, waitAtMost, maxAttempts);
    }

    public InboxOptions withGuardLease(Duration guardLease) {
        return new InboxOptions(tableName, queue, guardLease, renewAtMost, waitAtMost, maxAttempts);
    }

    public InboxOptions withRenewAtMost(Duration renewAtMost) {
        return new InboxOptions(tableName, queue, guardLease, renewAtMost, waitAtMost, maxAttempts);
    }

    public InboxOptions withWaitAtMost(Duration waitAtMost) {
        return new InboxOptions(tableName, queue, guardLease, renewAtMost, waitAtMost, maxAttempts);
    }

    public InboxOptions withMaxAttempts(int maxAttempts) {
        return new InboxOptions(tableName, queue, guardLease, renewAtMost, waitAtMost, maxAttempts);
    }

    public InboxOptions withPollingInterval(Duration pollingInterval) {
        return withQueue(queue.withPollingInterval(pollingInterval));
    }

    public InboxOptions withBatchSize(int batchSize) {
        return withQueue(queue.withBatchSize(batchSize));
    }

    public InboxOptions withLease(Duration lease) {
        return withQueue(queue.withLease(lease));
    }

    public InboxOptions withConcurrency(int concurrency) {
        return withQueue(queue.withConcurrency(concurrency));
    }

    public InboxOptions withRetention(Duration retention) {
        return withQueue(queue.withRetention(retention));
    }

    public InboxOptions withMaxLeaseExpiries(int maxLeaseExpiries) {
        return withQueue(queue.withMaxLeaseExpiries(maxLeaseExpiries));
    }

    public InboxOptions withHandlers(HandlerOptions handlers) {
        return withQueue(queue.withHandlers(handlers));
    }
}
