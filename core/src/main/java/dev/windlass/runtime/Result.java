package dev.windlass.runtime;

import dev.windlass.PermanentFailure;
import dev.windlass.RetryAfter;

/** How an attempt ended, before it is decided what is written about it. */
sealed interface Result {

    record Done() implements Result {}

    record Failed(Throwable cause) implements Result {
        /** Whether the handler decided about this message, which says nothing about the next. */
        boolean isDecision() {
            return cause instanceof PermanentFailure || cause instanceof RetryAfter;
        }

        /** Whether the user's code has been called. */
        boolean isStarted() {
            return !(cause instanceof NotStartedException);
        }
    }

    /** The lease was lost, or the node shuts down: nobody's failure. */
    record Stopped() implements Result {}
}
