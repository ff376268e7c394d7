package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the messages of one topic are handled.
 *
 * @param concurrency how many of them this node handles at once, at most
 * @param timeout how long one attempt may take; then the handler is cancelled and interrupted, and the attempt has failed
 * @param overtime what becomes of the message if the handler does not stop then; by default it goes on without the handler, and
 *     may be handled again while that is still at work
 * @param retry what happens after a failed attempt
 * @param circuit when the topic rests because its handler fails throughout; null means never
 */
public record HandlerOptions(
        int concurrency,
        Duration timeout,
        Overtime overtime,
        RetryPolicy retry,
        @Nullable Circuit circuit) {

    public HandlerOptions {
        Require.positive("concurrency", concurrency);
        Require.positive("time-out", timeout);
        Require.present("choice for overtime", overtime);
        Require.present("retry policy", retry);
    }

    /**
     * Sixteen at once, ten minutes each, given up after that, {@linkplain RetryPolicy#defaults() ten attempts}, no circuit.
     */
    public static HandlerOptions defaults() {
        return new HandlerOptions(16, Duration.ofMinutes(10), Overtime.GIVE_UP, RetryPolicy.defaults(), null);
    }

    public HandlerOptions withConcurrency(int concurrency) {
        return new HandlerOptions(concurrency, timeout, overtime, retry, circuit);
    }

    public HandlerOptions withTimeout(Duration timeout) {
        return new HandlerOptions(concurrency, timeout, overtime, retry, circuit);
    }

    public HandlerOptions withOvertime(Overtime overtime) {
        return new HandlerOptions(concurrency, timeout, overtime, retry, circuit);
    }

    public HandlerOptions withRetry(RetryPolicy retry) {
        return new HandlerOptions(concurrency, timeout, overtime, retry, circuit);
    }

    public HandlerOptions withCircuit(@Nullable Circuit circuit) {
        return new HandlerOptions(concurrency, timeout, overtime, retry, circuit);
    }
}
