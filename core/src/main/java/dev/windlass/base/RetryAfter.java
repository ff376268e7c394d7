package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/** Thrown by a handler to say when to try again, instead of the pause of its retry policy. The attempt is counted. See {@link NotYet} for one that is not. */
public final class RetryAfter extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Duration delay;

    public RetryAfter(Duration delay, String message) {
        super(message);
        this.delay = Require.notNegative("delay", delay);
    }

    public RetryAfter(Duration delay, Throwable cause) {
        super(cause);
        this.delay = Require.notNegative("delay", delay);
    }

    public Duration delay() {
        return delay;
    }
}
