package dev.windlass.internal.support;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** JobDurations of time as they are stored with a job. */
public final class JobDurations {
    private static final int MILLI = 1_000_000;
    private static final int MICROS = 1_000_000;

    private JobDurations() {}

    /** Finer ones would come back from a database as something else than was saved. */
    public static Duration wholeMillis(String what, Duration value) {
        if (value.toNanosPart() % MILLI != 0) {
            throw new IllegalArgumentException("expected a " + what + " of whole milliseconds, got " + value);
        }
        return value;
    }

    /** A part of it, by chance: from nothing to all. */
    public static Duration partOf(Duration length) {
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(length.toMillis() + 1));
    }

    public static Duration ofMicros(long micros) {
        return Duration.ofSeconds(micros / MICROS, micros % MICROS * 1000);
    }
}
