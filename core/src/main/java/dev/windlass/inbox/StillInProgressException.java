package dev.windlass.inbox;

import dev.windlass.base.WindlassException;

/** Somebody else was processing the message for as long as the caller was willing to wait. */
public final class StillInProgressException extends WindlassException {
    private static final long serialVersionUID = 1L;

    public StillInProgressException(String message) {
        super(message);
    }
}
