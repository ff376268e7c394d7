package dev.windlass.embedded;

/** Thrown when the embedded server cannot be unpacked, initialised, started or stopped; the message says what to do. */
public final class EmbeddedPostgresException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    EmbeddedPostgresException(String message) {
        super(message);
    }

    EmbeddedPostgresException(String message, Throwable cause) {
        super(message, cause);
    }
}
