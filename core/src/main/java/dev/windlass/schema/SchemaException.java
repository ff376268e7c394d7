package dev.windlass.schema;

import dev.windlass.WindlassException;

/** The database's schema is missing, too old or too new for this program; the message says what to do. */
public final class SchemaException extends WindlassException {
    private static final long serialVersionUID = 1L;

    SchemaException(String message) {
        super(message);
    }
}
