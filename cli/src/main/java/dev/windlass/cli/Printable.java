package dev.windlass.cli;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Makes stored texts fit for a screen: what comes from a database could hold commands for a terminal. */
final class Printable {

    private Printable() {}

    /** All in one line. */
    static String line(String text) {
        return text.replaceAll("[\\s\\p{Cc}\\p{Cf}]+", " ").strip();
    }

    /** With its lines and tabs, and without other control characters. */
    static String lines(String text) {
        return text.replaceAll("[\\p{Cc}\\p{Cf}&&[^\n\t]]", "?");
    }

    static int length(String line) {
        return line.codePointCount(0, line.length());
    }

    static String cut(String line, int width) {
        return length(line) <= width
                ? line
                : line.substring(0, line.offsetByCodePoints(0, Math.max(0, width - 3))) + "...";
    }

    static String seconds(Instant at) {
        return at.truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
