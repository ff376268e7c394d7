package dev.windlass;

import dev.windlass.runtime.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the messages of one topic are handled.
 *
 * @param concurrency how many of them this node handles at once, at most
 * @param timeout how long one attempt may take; then the handler is cancelled and interrupted, and the attempt has failed
 * @param retry what happens after a failed attempt
 * @param failedHead what becomes of the messages behind one that has failed, under the same ordering key
 * @param circuit when the topic rests because its handler fails throughout; null means never
 */
public record HandlerOptions(
        int concurrency,
        Duration timeout,
        RetryPolicy retry,
        FailedHead failedHead,
        @Nullable Circuit circuit) {

    public HandlerOptions {
        Require.positive("concurrency", concurrency);
        Require.positive("time-out", timeout);
        Require.present("retry policy", retry);
        Require.present("choice for failed heads", failedHead);
    }

    /**
     * Sixteen at once, ten minutes each, {@linkplain RetryPolicy#defaults() ten attempts}, failed heads block their key, no
     * circuit.
     */
    public static HandlerOptions defaults() {
        return new HandlerOptions(16, Duration.ofMinutes(10), RetryPolicy.defaults(), FailedHead.BLOCKS, null);
    }

    public HandlerOptions withConcurrency(int concurrency) {
        return new HandlerOptions(concurrency, timeout, retry, failedHead, circuit);
    }

    public HandlerOptions withTimeout(Duration timeout) {
        return new HandlerOptions(concurrency, timeout, retry, failedHead, circuit);
    }

    public HandlerOptions withRetry(RetryPolicy retry) {
        return new HandlerOptions(concurrency, timeout, retry, failedHead, circuit);
    }

    public HandlerOptions withFailedHead(FailedHead failedHead) {
        return new HandlerOptions(concurrency, timeout, retry, failedHead, circuit);
    }

    public HandlerOptions withCircuit(@Nullable Circuit circuit) {
        return new HandlerOptions(concurrency, timeout, retry, failedHead, circuit);
    }
}
