package dev.windlass.inbox;

import dev.windlass.HandlerOptions;
import dev.windlass.runtime.Require;
import java.time.Duration;

/**
 * How the inbox of one table works.
 *
 * @param tableName the table; its indexes and routines have names that start with it
 * @param pollingInterval the pause after an empty look for queued messages, doubled after each further one
 * @param batchSize how many queued messages one claim takes at most
 * @param lease how long a claimed message stays claimed without a heartbeat
 * @param guardLease how long who begins a message has it, unless he renews; {@link Inbox#process} does, others have to
 * @param renewAtMost for how long {@link Inbox#process} renews, so that work which hangs does not keep its message for ever; zero:
 *     not at all
 * @param waitAtMost how long {@link Inbox#alreadyProcessed} waits for somebody else's outcome
 * @param maxAttempts after how many attempts a message that is processed without the queue is given up
 * @param concurrency how many handlers run at once on this node, over all topics
 * @param retention how long the inbox remembers what has been processed: deliveries that come later are processed again
 * @param maxLeaseExpiries after how many leases that ran out while its handler was at work a queued message is given up; the first
 *     that ran out, for whatever reason, does not count
 * @param handlers what holds for handlers that bring no options of their own
 */
public record InboxOptions(
        String tableName,
        Duration pollingInterval,
        int batchSize,
        Duration lease,
        Duration guardLease,
        Duration renewAtMost,
        Duration waitAtMost,
        int maxAttempts,
        int concurrency,
        Duration retention,
        int maxLeaseExpiries,
        HandlerOptions handlers) {

    public InboxOptions {
        Require.identifier("table name", tableName);
        Require.positive("polling interval", pollingInterval);
        Require.positive("batch size", batchSize);
        Require.positive("lease", lease);
        Require.positive("guard lease", guardLease);
        Require.notNegative("longest time of renewals", renewAtMost);
        Require.notNegative("longest wait", waitAtMost);
        Require.positive("number of attempts", maxAttempts);
        Require.positive("concurrency", concurrency);
        Require.positive("retention", retention);
        Require.positive("number of lease expiries", maxLeaseExpiries);
        Require.present("set of handler options", handlers);
    }

    public static InboxOptions defaults() {
        return new InboxOptions(
                "inbox",
                Duration.ofMillis(250),
                20,
                Duration.ofSeconds(30),
                Duration.ofMinutes(5),
                Duration.ofHours(1),
                Duration.ofSeconds(30),
                5,
                16,
                Duration.ofDays(30),
                5,
                HandlerOptions.defaults());
    }

    public InboxOptions withTableName(String tableName) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withPollingInterval(Duration pollingInterval) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withBatchSize(int batchSize) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withLease(Duration lease) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withGuardLease(Duration guardLease) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withRenewAtMost(Duration renewAtMost) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withWaitAtMost(Duration waitAtMost) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withMaxAttempts(int maxAttempts) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withConcurrency(int concurrency) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withRetention(Duration retention) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withMaxLeaseExpiries(int maxLeaseExpiries) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }

    public InboxOptions withHandlers(HandlerOptions handlers) {
        return new InboxOptions(
                tableName,
                pollingInterval,
                batchSize,
                lease,
                guardLease,
                renewAtMost,
                waitAtMost,
                maxAttempts,
                concurrency,
                retention,
                maxLeaseExpiries,
                handlers);
    }
}
