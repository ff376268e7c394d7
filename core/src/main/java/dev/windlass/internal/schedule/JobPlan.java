package dev.windlass.internal.schedule;

import dev.windlass.schedule.Misfire;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * What to do about a job that fires: nothing but arithmetic.
 *
 * @param runs the ticks that make runs, the oldest first
 * @param skipped how many ticks make none
 * @param next the next tick
 */
record JobPlan(List<Instant> runs, long skipped, Instant next) {
    /** Counting them is for people; a second's job that stood still for a week must not cost anything. */
    private static final long MOST_COUNTED = 10_000;

    /**
     * @param tick the tick that fires
     * @param offset how much later than the tick it was to fire; what comes as late as this is in time
     */
    static JobPlan of(Ticks ticks, Misfire misfire, Instant tick, Duration offset, Instant now) {
        Instant horizon = max(tick, now.minus(offset));
        Instant latest =
                ticks.previous(horizon.plusNanos(1)).filter(tick::isBefore).orElse(tick);
        List<Instant> runs = runs(ticks, misfire, tick, latest, horizon);
        long due = 1 + (latest.equals(tick) ? 0 : ticks.count(tick, latest, MOST_COUNTED));
        return new JobPlan(runs, Math.max(0, due - runs.size()), ticks.next(horizon));
    }

    private static List<Instant> runs(Ticks ticks, Misfire misfire, Instant tick, Instant latest, Instant horizon) {
        if (misfire instanceof Misfire.All all) {
            return back(ticks, tick, latest, all.max());
        }
        if (misfire instanceof Misfire.Skip skip) {
            return latest.plus(skip.later()).isBefore(horizon) ? List.of() : List.of(latest);
        }
        return List.of(latest);
    }

    /** The ticks from the latest one back to {@code first}, which is one of them, also when the job's times do not name it. */
    private static List<Instant> back(Ticks ticks, Instant first, Instant latest, int most) {
        Deque<Instant> found = new ArrayDeque<>(List.of(latest));
        while (found.size() < most && first.isBefore(found.getFirst())) {
            Optional<Instant> before = ticks.previous(found.getFirst()).filter(first::isBefore);
            found.addFirst(before.orElse(first));
        }
        return List.copyOf(found);
    }

    /**
     * When the next tick fires. Never before now, as long as the jitter allows: else a short one after a long one would make
     * several ticks due at once, and one of them late.
     *
     * @param part of the jitter
     */
    static Instant firesAt(Instant next, Duration part, Instant now) {
        return max(next.plus(part), now);
    }

    private static Instant max(Instant a, Instant b) {
        return a.isAfter(b) ? a : b;
    }
}
