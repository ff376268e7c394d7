package dev.windlass.base;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * Thrown by a handler that cannot do its work yet, and has not failed: the message comes again after this time, and the attempt is
 * not counted. A handler may say so as often as it likes. See {@link RetryAfter} for one that has failed.
 */
public final class NotYet extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Duration delay;

    /**
     * @param message why; logged and shown to operators
     */
    public NotYet(Duration delay, String message) {
        super(message);
        this.delay = Require.notNegative("delay", delay);
    }

    public Duration delay() {
        return delay;
    }
}
