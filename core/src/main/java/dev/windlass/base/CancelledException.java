package dev.windlass.base;

/** A handler gave up because it was asked to. */
public final class CancelledException extends WindlassException {
    private static final long serialVersionUID = 1L;

    public CancelledException(String message) {
        super(message);
    }
}
