package dev.windlass.cron;

import java.util.List;

/**
 * What one field says.
 *
 * @param text as it was written
 * @param position where it was written
 * @param open whether it is {@code ?}
 */
record FieldValues(Field field, String text, int position, boolean open, List<Span> spans, List<DayRule> rules) {

    long bits() {
        return spans.stream().mapToLong(span -> span.bits(field)).reduce(0, (a, b) -> a | b);
    }

    boolean hasStar() {
        return spans.stream().anyMatch(span -> span.form() == Span.Form.STAR);
    }

    /** A field that leaves a single value is a fixed one, however it is written. */
    boolean recurs() {
        return Long.bitCount(bits()) > 1 && spans.stream().anyMatch(span -> span.recurs(field));
    }
}
