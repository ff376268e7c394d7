package dev.windlass.cron;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says where an expression is wrong and what is allowed there. The message has three lines: what is wrong, the expression, and
 * marks under the wrong part of it.
 */
public final class CronSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;
    private static final int SHOWN = 80;

    private final @Nullable String field;
    private final int position;

    CronSyntaxException(String text, int position, int length, String problem) {
        super(problem + pointer(text, position, length));
        this.field = null;
        this.position = position;
    }

    CronSyntaxException(String text, Field field, int position, int length, String problem) {
        super(field.label + ": " + problem + pointer(text, position, length));
        this.field = field.label;
        this.position = position;
    }

    /**
     * The field that is wrong: second, minute, hour, day of month, month or day of week. Empty when it is none of them, but
     * their number, for example.
     */
    public Optional<String> field() {
        return Optional.ofNullable(field);
    }

    /** Where the wrong part begins in the expression, from 0. */
    public int position() {
        return position;
    }

    private static String pointer(String text, int position, int length) {
        if (text.isBlank() || position >= SHOWN) {
            return "";
        }
        String shown = printable(text);
        int marks = Math.max(1, Math.min(length, shown.length() - position));
        return "\n" + shown + "\n" + " ".repeat(position) + "^".repeat(marks);
    }

    /** One character for one, so that the marks stay below what they mark; nothing that a terminal or a log would obey. */
    static String printable(String text) {
        StringBuilder shown = new StringBuilder();
        for (char c : text.substring(0, Math.min(text.length(), SHOWN)).toCharArray()) {
            shown.append(c == '\t' ? ' ' : c >= ' ' && c < 127 ? c : '?');
        }
        return shown.append(text.length() > SHOWN ? "..." : "").toString();
    }
}
