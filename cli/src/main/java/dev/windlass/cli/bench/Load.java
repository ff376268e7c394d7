package dev.windlass.cli.bench;

import dev.windlass.base.HandlerOptions;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;

/**
 * The messages of a measurement, and how they are handled.
 *
 * @param keep whether handled messages are kept, or deleted at once
 */
public record Load(int messages, int payloadBytes, int batchSize, int concurrency, int rounds, boolean keep) {

    public Load {
        if (messages < 1000 || payloadBytes < 0 || rounds < 1) {
            throw new IllegalArgumentException(
                    "expected at least 1,000 messages, a payload of 0 or more bytes and 1 round, got " + messages + ", "
                            + payloadBytes + " and " + rounds);
        }
    }

    OutboxOptions outbox() {
        OutboxOptions options = OutboxOptions.defaults()
                .withBatchSize(batchSize)
                .withConcurrency(concurrency)
                .withHandlers(HandlerOptions.defaults().withConcurrency(concurrency));
        return keep ? options : options.withRetention(Duration.ZERO);
    }
}
