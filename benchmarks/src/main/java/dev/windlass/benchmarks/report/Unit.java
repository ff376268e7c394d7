package dev.windlass.benchmarks.report;

import java.util.Locale;

/** What a number is of, and which way is better. */
public enum Unit {
    PER_SECOND("a second", true),
    MILLISECONDS("ms", false),
    STATEMENTS("statements a second", false),
    MEGABYTES("MB", false),
    /** As a part of a yardstick of the same round. */
    PART("of the yardstick", true),
    /** As a multiple of a yardstick of the same round. */
    TIMES("times the yardstick", false);

    private final String text;
    private final boolean higherIsBetter;

    Unit(String text, boolean higherIsBetter) {
        this.text = text;
        this.higherIsBetter = higherIsBetter;
    }

    public String text() {
        return text;
    }

    public boolean higherIsBetter() {
        return higherIsBetter;
    }

    /** Three digits or so: more would be noise. */
    public String format(double value) {
        if (this == PART || this == TIMES) {
            return String.format(Locale.ROOT, "%.2f", value);
        }
        double size = Math.abs(value);
        String digits = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, digits, value);
    }
}
