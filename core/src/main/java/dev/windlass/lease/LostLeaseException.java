package dev.windlass.lease;

import dev.windlass.base.WindlassException;
import org.jspecify.annotations.Nullable;

/** A lease is not this program's any more: somebody else may hold it by now. Stop what it was protecting. */
public final class LostLeaseException extends WindlassException {
    private static final long serialVersionUID = 1L;

    public LostLeaseException(String message) {
        super(message);
    }

    public LostLeaseException(String message, @Nullable Throwable cause) {
        super(message);
        if (cause != null) {
            initCause(cause);
        }
    }
}
