package dev.windlass.runtime;

import java.time.Duration;

/** How a dispatcher works; features fill it from their own options. */
public record DispatcherOptions(
        Duration pollingInterval,
        Duration maxPollingInterval,
        int batchSize,
        Duration lease,
        int concurrency,
        int maxLeaseExpiries,
        boolean wakeUp,
        Duration shutdownGrace) {}
