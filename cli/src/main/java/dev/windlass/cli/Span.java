package dev.windlass.cli;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Says how long something takes, or how far away it is, in the two largest units. */
final class Span {

    private Span() {}

    static String of(Duration span) {
        if (span.toDays() > 0) {
            return two(span.toDays(), "d", span.toHoursPart(), "h");
        }
        if (span.toHours() > 0) {
            return two(span.toHours(), "h", span.toMinutesPart(), "min");
        }
        return span.toMinutes() > 0 ? two(span.toMinutes(), "min", span.toSecondsPart(), "s") : span.toSeconds() + " s";
    }

    /** A length that somebody chose, with nothing left out. */
    static String exact(Duration span) {
        List<String> parts = new ArrayList<>();
        add(parts, BigDecimal.valueOf(span.toDays()), "d");
        add(parts, BigDecimal.valueOf(span.toHoursPart()), "h");
        add(parts, BigDecimal.valueOf(span.toMinutesPart()), "min");
        add(parts, BigDecimal.valueOf(span.toSecondsPart()).add(BigDecimal.valueOf(span.toNanosPart(), 9)), "s");
        return parts.isEmpty() ? "0 s" : String.join(" ", parts);
    }

    private static void add(List<String> parts, BigDecimal number, String unit) {
        if (number.signum() != 0) {
            parts.add(number.stripTrailingZeros().toPlainString() + " " + unit);
        }
    }

    /** How long some work took: below ten seconds, milliseconds matter. */
    static String fine(Duration span) {
        return span.toSeconds() < 10 ? span.toMillis() + " ms" : of(span);
    }

    private static String two(long many, String unit, int part, String partUnit) {
        return many + " " + unit + (part == 0 ? "" : " " + part + " " + partUnit);
    }

    /** Of something that is to come: "in 3 h 5 min", or "12 s late". */
    static String until(Instant due, Instant now) {
        return ahead(Duration.between(now, due));
    }

    /** The same of a distance; what is over is late. */
    static String ahead(Duration ahead) {
        return ahead.isNegative() ? of(ahead.negated()) + " late" : "in " + of(ahead);
    }

    /** The same with the time itself. */
    static String dated(Instant due, Instant now) {
        return Printable.seconds(due) + " (" + until(due, now) + ")";
    }
}
