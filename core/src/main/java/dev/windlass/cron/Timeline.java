package dev.windlass.cron;

import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The runs of an expression in one zone, in seconds of real time; the package's description says which they are. */
final class Timeline {
    static final long NONE = LocalTimes.NONE;
    static final long FIRST = Instant.parse("0001-01-01T00:00:00Z").getEpochSecond();
    static final long LAST = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();

    /** Two offsets differ by 36 hours at most, so a change has no effect on runs that are later than this. */
    private static final long REACH = 36 * 3600;

    private final LocalTimes times;
    private final boolean interval;
    private final ZoneRules rules;

    Timeline(LocalTimes times, boolean interval, ZoneRules rules) {
        this.times = times;
        this.interval = interval;
        this.rules = rules;
    }

    /** The first run at or after {@code earliest}, or {@link #NONE}. */
    long first(long earliest) {
        if (earliest > LAST) {
            return NONE;
        }
        long start = Math.max(earliest, FIRST);
        ZoneOffsetTransition change = previous(start - REACH);
        long found = NONE;
        while (true) {
            ZoneOffsetTransition next = next(change, start - REACH);
            for (Stretch stretch : stretches(change, next)) {
                found = earlier(found, stretch.first(times, start));
            }
            // Whatever the next change brings runs after it.
            if (next == null || next.toEpochSecond() > LAST || (found != NONE && found < next.toEpochSecond())) {
                return found == NONE || found > LAST ? NONE : found;
            }
            change = next;
        }
    }

    /** The last run at or before {@code latest}, or {@link #NONE}. */
    long last(long latest) {
        if (latest < FIRST) {
            return NONE;
        }
        long stop = Math.min(latest, LAST);
        ZoneOffsetTransition next = next(stop);
        ZoneOffsetTransition change = previous(stop);
        long found = NONE;
        while (true) {
            for (Stretch stretch : stretches(change, next)) {
                found = Math.max(found, stretch.last(times, stop));
            }
            if (change == null) {
                return found < FIRST ? NONE : found;
            }
            next = change;
            change = previous(change.toEpochSecond() - 1);
            // Older changes still have an effect for a while: what was skipped is run after the change.
            if (found != NONE && (change == null || found >= change.toEpochSecond() + REACH)) {
                return found < FIRST ? NONE : found;
            }
        }
    }

    /** What is looked at because of a change, up to the next one. */
    private List<Stretch> stretches(@Nullable ZoneOffsetTransition change, @Nullable ZoneOffsetTransition next) {
        long end = next == null ? LAST + 1 : next.toEpochSecond();
        if (change == null) {
            int offset = next == null
                    ? rules.getOffset(Instant.EPOCH).getTotalSeconds()
                    : next.getOffsetBefore().getTotalSeconds();
            return List.of(new Stretch(FIRST + offset, end + offset, offset));
        }
        int before = change.getOffsetBefore().getTotalSeconds();
        int after = change.getOffsetAfter().getTotalSeconds();
        long shown = change.toEpochSecond() + after;
        if (interval) {
            return List.of(new Stretch(shown, end + after, after));
        }
        long reached = reached(change);
        return shown > reached
                ? List.of(new Stretch(reached, shown, before), new Stretch(shown, end + after, after))
                : List.of(new Stretch(reached, end + after, after));
    }

    /** How far the local time had come before a change; a change shortly before can have taken it back from there. */
    private long reached(ZoneOffsetTransition change) {
        long reached = Long.MIN_VALUE;
        ZoneOffsetTransition earlier = change;
        while (earlier != null && earlier.toEpochSecond() >= change.toEpochSecond() - REACH) {
            reached = Math.max(
                    reached, earlier.toEpochSecond() + earlier.getOffsetBefore().getTotalSeconds());
            earlier = previous(earlier.toEpochSecond() - 1);
        }
        return reached;
    }

    private @Nullable ZoneOffsetTransition next(@Nullable ZoneOffsetTransition change, long start) {
        return next(change == null ? start : change.toEpochSecond());
    }

    private @Nullable ZoneOffsetTransition next(long second) {
        return rules.nextTransition(Instant.ofEpochSecond(second));
    }

    /** The last change at or before a second. */
    private @Nullable ZoneOffsetTransition previous(long second) {
        return rules.previousTransition(Instant.ofEpochSecond(second + 1));
    }

    private static long earlier(long found, long other) {
        if (found == NONE || other == NONE) {
            return Math.max(found, other);
        }
        return Math.min(found, other);
    }
}
