package dev.windlass.internal.support;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * What the position of a page says: which list it is of, and the values that the list is ordered by. As text these stand between
 * slashes, with a checksum at the end, so that what was cut off, changed or made up is noticed.
 *
 * @param list the name of the list
 * @param values none of them at the start of a list
 */
public record Place(String list, List<@Nullable String> values) {
    private static final int LONGEST_QUOTE = 80;

    /** The start of a list: all values are null. */
    public static final Place START = new Place("", List.of());

    /** Where one of a list stands in it. */
    public static Place at(@Nullable Object... values) {
        List<@Nullable String> texts = new ArrayList<>();
        for (Object value : values) {
            texts.add(value == null ? null : value.toString());
        }
        return new Place("", texts);
    }

    /** Reads a position. */
    public static Place of(@Nullable String text) {
        int end = text == null ? -1 : text.lastIndexOf('/');
        if (text == null || end < 0 || !text.substring(end + 1).equals(checksum(text.substring(0, end)))) {
            throw new IllegalArgumentException("expected a position that a list printed, got "
                    + (text == null ? "null" : quoted(text)) + "; leave it out to begin at the start");
        }
        String[] parts = text.substring(0, end).split("/", -1);
        List<@Nullable String> values = new ArrayList<>();
        for (int i = 1; i < parts.length; i++) {
            values.add(parts[i].isEmpty() ? null : decoded(parts[i]));
        }
        return new Place(decoded(parts[0]), values);
    }

    /** Reads a position that has to be one of this list. */
    public static Place of(String text, String list) {
        Place place = of(text);
        if (!place.list.equals(list)) {
            throw new IllegalArgumentException("expected a position that a list of " + list + " printed, got one of "
                    + quoted(place.list) + "; leave it out to begin at the start");
        }
        return place;
    }

    /** The position in this list, as text. */
    public String in(String list) {
        StringBuilder text = new StringBuilder(encoded(list));
        for (String value : values) {
            text.append('/').append(value == null ? "" : encoded(value));
        }
        return text + "/" + checksum(text.toString());
    }

    /** Times stay readable. */
    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("%3A", ":");
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static String checksum(String text) {
        CRC32 sum = new CRC32();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(sum.getValue());
    }

    private static String quoted(String text) {
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return '"' + (line.length() > LONGEST_QUOTE ? line.substring(0, LONGEST_QUOTE) + "..." : line) + '"';
    }

    public @Nullable String text(int index) {
        return index < values.size() ? values.get(index) : null;
    }

    public @Nullable Instant instant(int index) {
        String text = text(index);
        return text == null ? null : Instant.parse(text);
    }

    public @Nullable UUID uuid(int index) {
        String text = text(index);
        return text == null ? null : UUID.fromString(text);
    }

    public @Nullable Long number(int index) {
        String text = text(index);
        return text == null ? null : Long.valueOf(text);
    }

    public @Nullable Integer integer(int index) {
        String text = text(index);
        return text == null ? null : Integer.valueOf(text);
    }
}
