package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * How a node works on a queue, whatever is in it.
 *
 * @param pollingInterval the pause after an empty look, doubled after each further one
 * @param batchSize how many messages a claim takes to begin with; while claims come back full, and handlers are quick enough, it takes
 *     twice as many each time, up to 1,000
 * @param lease how long a claimed message stays claimed without a heartbeat
 * @param concurrency how many handlers run at once on this node, over all topics
 * @param retention how long handled messages are kept
 * @param maxLeaseExpiries after how many leases that ran out while its handler was at work a message is given up; the first that
 *     ran out, for whatever reason, does not count
 * @param handlers what holds for handlers that bring no options of their own
 */
public record QueueOptions(
        Duration pollingInterval,
        int batchSize,
        Duration lease,
        int concurrency,
        Duration retention,
        int maxLeaseExpiries,
        HandlerOptions handlers) {

    public QueueOptions {
        Require.positive("polling interval", pollingInterval);
        Require.positive("batch size", batchSize);
        Require.positive("lease", lease);
        Require.positive("concurrency", concurrency);
        Require.notNegative("retention", retention);
        Require.positive("number of lease expiries", maxLeaseExpiries);
        Require.present("set of handler options", handlers);
    }

    public static QueueOptions defaults() {
        return new QueueOptions(
                Duration.ofMillis(250),
                50,
                Duration.ofSeconds(30),
                16,
                Duration.ofDays(7),
                5,
                HandlerOptions.defaults());
    }

    public QueueOptions withPollingInterval(Duration pollingInterval) {
        return new QueueOptions(pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public QueueOptions withBatchSize(int batchSize) {
        return new QueueOptions(pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public QueueOptions withLease(Duration lease) {
        return new QueueOptions(pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public QueueOptions withConcurrency(int concurrency) {
        return new QueueOptions(pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public QueueOptions withRetention(Duration retention) {
        return new QueueOptions(pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public QueueOptions withMaxLeaseExpiries(int maxLeaseExpiries) {
        return new QueueOptions(pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }

    public QueueOptions withHandlers(HandlerOptions handlers) {
        return new QueueOptions(pollingInterval, batchSize, lease, concurrency, retention, maxLeaseExpiries, handlers);
    }
}
