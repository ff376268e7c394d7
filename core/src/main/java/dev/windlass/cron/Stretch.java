package dev.windlass.cron;

/**
 * Local times that are looked at with one offset: {@code from} included, {@code to} not. What matches in it runs at its local
 * time minus the offset.
 */
record Stretch(long from, long to, int offset) {

    /** The first run at or after a second of real time, or {@link LocalTimes#NONE}. */
    long first(LocalTimes times, long earliest) {
        return instant(times.first(Math.max(from, earliest + offset), to));
    }

    /** The last run at or before a second of real time, or {@link LocalTimes#NONE}. */
    long last(LocalTimes times, long latest) {
        return instant(times.last(from, Math.min(to, latest + offset + 1)));
    }

    private long instant(long local) {
        return local == LocalTimes.NONE ? LocalTimes.NONE : local - offset;
    }
}
