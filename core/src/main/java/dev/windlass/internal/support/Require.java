package dev.windlass.internal.support;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Refuses bad arguments before any SQL runs, saying what was expected and what came. */
public final class Require {
    private static final int MAX_HEADERS = 32_768;

    /** Leaves room for the longest routine suffix in PostgreSQL's 63 bytes. */
    private static final int MAX_IDENTIFIER_BYTES = 40;

    /** What both engines can store. */
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");

    private Require() {}

    /**
     * A name that databases compare: not blank, without spaces at its end, not longer than {@code max}, and can be stored. The
     * tables refuse the same, by the same measure: characters, not UTF-16 units, and the same blanks.
     */
    public static String name(String what, @Nullable String value, int max) {
        String name = text(what, value, max);
        if (name.endsWith(" ")) {
            throw new IllegalArgumentException("expected " + a(what)
                    + " without spaces at its end, which not every database can tell apart, got \"" + name + "\"");
        }
        return name;
    }

    /** A text that is there, not blank, not longer than {@code max}, and can be stored. */
    public static String text(String what, @Nullable String value, int max) {
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(
                    "expected " + a(what) + ", got " + (value == null ? "null" : "blank text"));
        }
        return optionalText(what, value, max);
    }

    /** The same in one line, for what stands in lines of a log: without control characters. */
    public static String line(String what, @Nullable String value, int max) {
        String line = text(what, value, max);
        for (int i = 0; i < line.length(); i++) {
            if (breaksLine(line.charAt(i))) {
                throw new IllegalArgumentException(
                        "expected " + a(what) + " without control characters, got one at index " + i);
            }
        }
        return line;
    }

    private static boolean breaksLine(char c) {
        int kind = Character.getType(c);
        return Character.isISOControl(c) || kind == Character.LINE_SEPARATOR || kind == Character.PARAGRAPH_SEPARATOR;
    }

    /** A text that may be empty, but is not longer than {@code max} and can be stored. */
    public static String optionalText(String what, String value, int max) {
        int length = value.codePointCount(0, value.length());
        if (length > max) {
            throw new IllegalArgumentException(
                    "expected " + a(what) + " of at most " + max + " characters, got " + length);
        }
        return storable(what, value);
    }

    /** A text that a database can store: no NUL character, no half of a surrogate pair. */
    public static String storable(String what, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException("expected " + a(what) + ", got null");
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == 0) {
                throw new IllegalArgumentException("expected " + a(what) + " without NUL characters, got one at index "
                        + i + "; encode binary data, for example as Base64");
            }
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c)
                        && i + 1 < value.length()
                        && Character.isLowSurrogate(value.charAt(i + 1));
                if (!pair) {
                    throw new IllegalArgumentException(
                            "expected " + a(what) + " of well-formed Unicode, got half a surrogate pair at index " + i);
                }
                i++;
            }
        }
        return value;
    }

    /**
     * A schema, table or role name. It is always quoted; what quoting cannot make safe or useful is refused: control
     * characters, the dollar sign (routine bodies are dollar-quoted), and names too long for the routines derived from them.
     */
    public static String identifier(String what, @Nullable String value) {
        text(what, value, MAX_IDENTIFIER_BYTES);
        String name = Objects.requireNonNull(value);
        if (name.getBytes(StandardCharsets.UTF_8).length > MAX_IDENTIFIER_BYTES) {
            throw new IllegalArgumentException(
                    "expected " + a(what) + " of at most " + MAX_IDENTIFIER_BYTES + " bytes, got \"" + name + "\"");
        }
        if (name.indexOf('$') >= 0 || name.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "expected " + a(what) + " without '$' and control characters, got \"" + name + "\"");
        }
        return name;
    }

    public static int notNegative(String what, int value) {
        if (value < 0) {
            throw new IllegalArgumentException("expected " + a(what) + " of 0 or more, got " + value);
        }
        return value;
    }

    public static int positive(String what, int value) {
        if (value <= 0) {
            throw new IllegalArgumentException("expected a positive " + what + ", got " + value);
        }
        return value;
    }

    public static int percent(int value) {
        if (value < 0 || value > 100) {
            throw new IllegalArgumentException("expected a progress from 0 to 100, got " + value);
        }
        return value;
    }

    public static Duration positive(String what, @Nullable Duration value) {
        if (value == null || value.isZero() || value.isNegative()) {
            throw new IllegalArgumentException("expected a positive " + what + ", got " + value);
        }
        return bounded(what, value);
    }

    public static Duration notNegative(String what, @Nullable Duration value) {
        if (value == null || value.isNegative()) {
            throw new IllegalArgumentException("expected " + a(what) + " of zero or more, got " + value);
        }
        return bounded(what, value);
    }

    /** A hundred years overflow neither the nanoseconds of a long nor the timestamps of a database. */
    private static Duration bounded(String what, Duration value) {
        if (value.compareTo(Duration.ofDays(36_500)) > 0) {
            throw new IllegalArgumentException("expected " + a(what) + " of at most 100 years, got " + value);
        }
        return value;
    }

    public static Instant instant(String what, @Nullable Instant value) {
        if (value == null || value.isBefore(EARLIEST) || value.isAfter(LATEST)) {
            throw new IllegalArgumentException("expected " + a(what) + " between the years 1 and 9999, got " + value);
        }
        return value;
    }

    public static <C extends Collection<?>> C elements(String what, @Nullable C values) {
        if (values == null) {
            throw new IllegalArgumentException("expected a collection of " + what + ", got null");
        }
        for (Object value : values) {
            if (value == null) {
                throw new IllegalArgumentException("expected a collection of " + what + ", got one with a null in it");
            }
        }
        return values;
    }

    /** Names and values of headers; together no more than every engine keeps beside a payload. */
    public static Map<String, String> headers(@Nullable Map<String, String> headers) {
        long size = 0;
        for (Map.Entry<String, String> header :
                present("map of headers", headers).entrySet()) {
            text("header name", header.getKey(), 255);
            storable("header value", header.getValue());
            size += utf8(header.getKey()) + utf8(header.getValue());
        }
        if (size > MAX_HEADERS) {
            throw new IllegalArgumentException("expected headers of " + MAX_HEADERS + " bytes or less in all, got "
                    + size + "; what is larger belongs into the payload");
        }
        return Map.copyOf(headers);
    }

    private static int utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    public static <T> T present(String what, @Nullable T value) {
        if (value == null) {
            throw new IllegalArgumentException("expected " + a(what) + ", got null");
        }
        return value;
    }

    private static String a(String what) {
        boolean vowel = "aeiou".indexOf(what.charAt(0)) >= 0 && !what.startsWith("uni"); // a unique key
        return (vowel ? "an " : "a ") + what;
    }
}
