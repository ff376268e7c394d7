package dev.windlass.runtime;

import java.time.Duration;

/**
 * How a dispatcher works; features fill it from their own options.
 *
 * @param maxLeaseExpiries how many leases may run out while a message's handler runs, as far as they are counted
 * @param maxBytesInHand about how many characters of payload wait for a handler or are in one
 * @param retriesAsWarnings whether failed attempts are warnings if they are tried again
 */
public record DispatcherOptions(
        Duration pollingInterval,
        Duration maxPollingInterval,
        int batchSize,
        Duration lease,
        int concurrency,
        int maxLeaseExpiries,
        boolean wakeUp,
        Duration shutdownGrace,
        long maxBytesInHand,
        boolean retriesAsWarnings) {

    /** With an eighth of the memory for payloads: a character takes two bytes at most, and there may be several dispatchers. */
    public DispatcherOptions(
            Duration pollingInterval,
            Duration maxPollingInterval,
            int batchSize,
            Duration lease,
            int concurrency,
            int maxLeaseExpiries,
            boolean wakeUp,
            Duration shutdownGrace) {
        this(
                pollingInterval,
                maxPollingInterval,
                batchSize,
                lease,
                concurrency,
                maxLeaseExpiries,
                wakeUp,
                shutdownGrace,
                Runtime.getRuntime().maxMemory() / 8,
                false);
    }

    public DispatcherOptions withRetriesAsWarnings(boolean retriesAsWarnings) {
        return new DispatcherOptions(
                pollingInterval,
                maxPollingInterval,
                batchSize,
                lease,
                concurrency,
                maxLeaseExpiries,
                wakeUp,
                shutdownGrace,
                maxBytesInHand,
                retriesAsWarnings);
    }
}
