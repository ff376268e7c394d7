package dev.windlass.inbox;

import dev.windlass.base.WindlassException;

/** The message was given up: it has not been processed, and will not be until an operator requeues it. */
public final class DeadMessageException extends WindlassException {
    private static final long serialVersionUID = 1L;

    public DeadMessageException(String message) {
        super(message);
    }
}
