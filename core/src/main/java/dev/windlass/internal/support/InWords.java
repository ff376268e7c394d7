package dev.windlass.internal.support;

import java.time.Duration;
import java.util.Locale;

/** Durations as people say them: in logs and errors. */
public final class InWords {
    private static final Duration SHORT = Duration.ofSeconds(10);

    private InWords() {}

    /** Such as {@code 0.2 s}, {@code 45 s}, {@code 1 min 30 s}, {@code 2 h} or {@code 3 d 4 h}. */
    public static String of(Duration duration) {
        if (duration.isNegative()) {
            return "-" + of(duration.negated());
        }
        if (duration.compareTo(SHORT) < 0) {
            return seconds(duration);
        }
        if (duration.toMinutes() == 0) {
            return duration.toSeconds() + " s";
        }
        if (duration.toHours() == 0) {
            return both(duration.toMinutes(), "min", duration.toSecondsPart(), "s");
        }
        return duration.toDays() == 0
                ? both(duration.toHours(), "h", duration.toMinutesPart(), "min")
                : both(duration.toDays(), "d", duration.toHoursPart(), "h");
    }

    /** Milliseconds up to a second, tenths up to ten. */
    private static String seconds(Duration duration) {
        if (duration.toMillis() < 100) {
            return duration.toMillis() + " ms";
        }
        String tenths = String.format(Locale.ROOT, "%.1f", Math.floor(duration.toMillis() / 100.0) / 10);
        return (tenths.endsWith(".0") ? tenths.substring(0, tenths.length() - 2) : tenths) + " s";
    }

    private static String both(long large, String unit, int small, String smallUnit) {
        return large + " " + unit + (small == 0 ? "" : " " + small + " " + smallUnit);
    }
}
