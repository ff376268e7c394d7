package dev.windlass.cron;

/**
 * The local times that match, without a zone. A local time is counted in seconds, as {@link
 * java.time.LocalDateTime#toEpochSecond} counts it for the offset zero.
 */
record LocalTimes(Days days, Times times) {
    static final long NONE = Long.MIN_VALUE;
    private static final int DAY = 86_400;

    /** The first match at or after {@code from} and before {@code to}, or {@link #NONE}. */
    long first(long from, long to) {
        if (from >= to) {
            return NONE;
        }
        long today = Math.floorDiv(from, DAY);
        long lastDay = Math.floorDiv(to - 1, DAY);
        long day = days.first(today, lastDay);
        if (day == today) {
            int time = times.atOrAfter(Math.floorMod(from, DAY));
            if (time != Times.NONE) {
                return before(to, day * DAY + time);
            }
            day = today == lastDay ? Days.NONE : days.first(today + 1, lastDay);
        }
        return day == Days.NONE ? NONE : before(to, day * DAY + times.first());
    }

    private static long before(long to, long found) {
        return found < to ? found : NONE;
    }

    /** The last match at or after {@code from} and before {@code to}, or {@link #NONE}. */
    long last(long from, long to) {
        if (from >= to) {
            return NONE;
        }
        long today = Math.floorDiv(to - 1, DAY);
        long firstDay = Math.floorDiv(from, DAY);
        long day = days.last(firstDay, today);
        if (day == today) {
            int time = times.atOrBefore(Math.floorMod(to - 1, DAY));
            if (time != Times.NONE) {
                return notBefore(from, day * DAY + time);
            }
            day = today == firstDay ? Days.NONE : days.last(firstDay, today - 1);
        }
        return day == Days.NONE ? NONE : notBefore(from, day * DAY + times.last());
    }

    private static long notBefore(long from, long found) {
        return found >= from ? found : NONE;
    }
}
