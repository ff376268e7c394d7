package dev.windlass;

import dev.windlass.runtime.Require;
import java.time.Duration;

/**
 * How the messages of one topic are handled.
 *
 * @param concurrency how many of them this node handles at once, at most
 * @param timeout how long one attempt may take; then the handler is cancelled and interrupted, and the attempt has failed
 * @param retry what happens after a failed attempt
 */
public record HandlerOptions(int concurrency, Duration timeout, RetryPolicy retry) {

    public HandlerOptions {
        Require.positive("concurrency", concurrency);
        Require.positive("time-out", timeout);
        Require.present("retry policy", retry);
    }

    /** Sixteen at once, ten minutes each, {@linkplain RetryPolicy#defaults() ten attempts}. */
    public static HandlerOptions defaults() {
        return new HandlerOptions(16, Duration.ofMinutes(10), RetryPolicy.defaults());
    }

    public HandlerOptions withConcurrency(int concurrency) {
        return new HandlerOptions(concurrency, timeout, retry);
    }

    public HandlerOptions withTimeout(Duration timeout) {
        return new HandlerOptions(concurrency, timeout, retry);
    }

    public HandlerOptions withRetry(RetryPolicy retry) {
        return new HandlerOptions(concurrency, timeout, retry);
    }
}
