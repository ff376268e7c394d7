package dev.windlass.base;

/**
 * Something Windlass was asked to do did not happen; the message says what was expected, what came, and what to do next.
 *
 * <p>Database errors arrive as the cause. Bad arguments are {@link IllegalArgumentException}s instead.
 */
public class WindlassException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public WindlassException(String message) {
        super(message);
    }

    public WindlassException(String message, Throwable cause) {
        super(message, cause);
    }
}
