package dev.windlass.internal.dispatch;

import dev.windlass.base.NotYet;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import org.jspecify.annotations.Nullable;

/** How an attempt ended, before it is decided what is written about it. */
sealed interface Result {

    record Done() implements Result {}

    /**
     * The handler threw something.
     *
     * @param told the cause as it may be logged and stored
     */
    record Failed(Throwable cause, Throwable told) implements Result {
        Failed(Throwable cause) {
            this(cause, cause);
        }

        /** Whether the handler decided about this message, which says nothing about the next. */
        boolean isDecision() {
            return cause instanceof PermanentFailure || isPutOff();
        }

        /** Whether the handler said when to try again. */
        boolean isPutOff() {
            return cause instanceof RetryAfter || cause instanceof NotYet;
        }

        /** Whether the user's code has been called. */
        boolean isStarted() {
            return !(cause instanceof NotStartedException);
        }
    }

    /**
     * The lease was lost, or the node shuts down: nobody's failure.
     *
     * @param told what the handler threw then, as it may be logged
     */
    record Stopped(@Nullable Throwable told) implements Result {
        Stopped() {
            this(null);
        }
    }
}
