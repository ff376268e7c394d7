package dev.windlass.spring;

import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A set of options that properties change: those that were given. What the options refuse is told with the name of the property.
 *
 * @param prefix of the properties
 */
record Given<O>(String prefix, O options) {

    <V> Given<O> with(String property, @Nullable V value, BiFunction<O, V, O> change) {
        if (value == null) {
            return this;
        }
        try {
            return new Given<>(prefix, change.apply(options, value));
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(prefix + "." + property, value, String.valueOf(e.getMessage()), e);
        }
    }

    /** The property does not fit. */
    static final class InvalidPropertyException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        private final String property;
        private final String value;

        InvalidPropertyException(String property, Object value, String reason, @Nullable Throwable cause) {
            super("property " + property + ": " + reason, cause);
            this.property = property;
            this.value = value.toString();
        }

        String property() {
            return property;
        }

        String value() {
            return value;
        }
    }
}
