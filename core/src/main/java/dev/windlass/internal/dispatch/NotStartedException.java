package dev.windlass.internal.dispatch;

import org.jspecify.annotations.Nullable;

/** What a handler needs was not to be had, so it was not called: nothing is held against its message. */
public final class NotStartedException extends Exception {
    private static final long serialVersionUID = 1L;

    public NotStartedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
