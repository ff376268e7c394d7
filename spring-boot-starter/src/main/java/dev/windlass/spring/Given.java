package dev.windlass.spring;

import java.time.Duration;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
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
            String told = String.valueOf(e.getMessage()).replace(value.toString(), text(value));
            throw new InvalidPropertyException(name(property), text(value), told, e);
        }
    }

    /** The attributes of annotations are written another way. */
    private String name(String property) {
        return prefix + "." + (prefix.startsWith("@") ? attribute(property) : property);
    }

    private static String attribute(String property) {
        return Pattern.compile("-(.)")
                .matcher(property)
                .replaceAll(after -> after.group(1).toUpperCase(Locale.ROOT));
    }

    /** As one writes it. */
    private static String text(Object value) {
        return value instanceof Duration duration ? Durations.text(duration) : value.toString();
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
