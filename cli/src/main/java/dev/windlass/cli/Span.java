package dev.windlass.cli;

import java.time.Duration;
import java.time.Instant;

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

    private static String two(long many, String unit, int part, String partUnit) {
        return many + " " + unit + (part == 0 ? "" : " " + part + " " + partUnit);
    }

    /** Of something that is to come: "in 3 h 5 min", or "12 s late". */
    static String until(Instant due, Instant now) {
        Duration ahead = Duration.between(now, due);
        return ahead.isNegative() ? of(ahead.negated()) + " late" : "in " + of(ahead);
    }

    /** The same with the time itself. */
    static String dated(Instant due, Instant now) {
        return Printable.seconds(due) + " (" + until(due, now) + ")";
    }
}
