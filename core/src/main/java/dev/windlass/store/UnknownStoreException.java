package dev.windlass.store;

import dev.windlass.base.WindlassException;

/** There is no store for a key. */
public final class UnknownStoreException extends WindlassException {
    private static final long serialVersionUID = 1;

    public UnknownStoreException(String message) {
        super(message);
    }
}
