package dev.windlass.outbox;

import dev.windlass.HandlerOptions;
import dev.windlass.runtime.Require;
import java.time.Duration;

/**
 * How the outbox of one table works.
 *
 * @param tableName the table; its indexes, join tables and routines have names that start with it
 * @param pollingInterval the pause after an empty look, doubled after each further one
 * @param batchSize how many messages one claim takes at most
 * @param lease how long a claimed message stays claimed without a heartbeat
 * @param concurrency how many handlers run at once on this node, over all topics
 * @param retention how long handled messages are kept; zero deletes them at once, which is faster
 * @param maxLeaseExpiries after how many leases that ran out while its handler was at work a message is given up; the first that
 *     ran out, for whatever reason, does not count
 * @param handlers what holds for handlers that bring no options of their own
 */
public record OutboxOptions(
        String tableName,
        Duration pollingInterval,
        int batchSize,
        Duration lease,
        int concurrency,
        Duration retention,
        int maxLeaseExpiries,
        HandlerOptions handlers) {

    public OutboxOptions {
        Require.identifier("table name", tableName);
        Require.positive("polling interval", pollingInterval);
        Require.positive("batch size", batchSize);
        Require.positive("lease", lease);
        Require.positive("concurrency", concurrency);
        Require.notNegative("retention", retention);
        Require.positive("number of lease expiries", maxLeaseExpiries);
        Require.present("set of handler options", handlers);
    }

    public static OutboxOptions defaults() {
        return new OutboxOptions(
                "outbox",
                Duration.ofMillis(250),
                50,
                Duration.ofSeconds(30),
                16,
                Duration.ofDays(7),
                5,
                HandlerOptions.defaults());
    }

    public OutboxOptions withTableName(String tableName) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public OutboxOptions withPollingInterval(Duration pollingInterval) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public OutboxOptions withBatchSize(int batchSize) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public OutboxOptions withLease(Duration lease) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public OutboxOptions withConcurrency(int concurrency) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public OutboxOptions withRetention(Duration retention) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public OutboxOptions withMaxLeaseExpiries(int maxLeaseExpiries) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public OutboxOptions withHandlers(HandlerOptions handlers) {
        return new OutboxOptions(
                tableName, pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }
}
