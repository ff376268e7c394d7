package dev.windlass.inbox;

import dev.windlass.base.WindlassException;

/**
 * The attempt is not the caller's any more: its lease ran out and somebody else has taken the message over, or an operator
 * has. What was done in the transaction of the mark must be rolled back.
 */
public final class AttemptLostException extends WindlassException {
    private static final long serialVersionUID = 1L;

    public AttemptLostException(String message) {
        super(message);
    }
}
