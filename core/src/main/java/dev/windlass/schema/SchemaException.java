package dev.windlass.schema;

import dev.windlass.base.WindlassException;

/** The schema is missing, too old or too new for this program, or the server too old; the message says what to do. */
public final class SchemaException extends WindlassException {
    private static final long serialVersionUID = 1L;

    public SchemaException(String message) {
        super(message);
    }
}
