package dev.windlass.base;

/**
 * A clock for durations: it never goes back, and nobody can set it.
 *
 * <p>Its values mean nothing by themselves; only differences between two of them do. What is stored or compared in SQL follows
 * the database's clock instead. Programs give one of their own only in tests. Thread-safe.
 */
@FunctionalInterface
public interface MonotonicClock {

    /** Nanoseconds since some moment, which may be negative and may overflow: subtract, do not compare. */
    long nanos();

    /** That of the JVM. It may stand still while the machine is suspended. */
    static MonotonicClock system() {
        return System::nanoTime;
    }
}
