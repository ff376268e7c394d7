package dev.windlass.base;

/** Thrown by a handler to say "never retry this": the message ends as failed at once. */
public final class PermanentFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public PermanentFailure(String message) {
        super(message);
    }

    public PermanentFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
