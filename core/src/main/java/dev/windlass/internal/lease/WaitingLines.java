package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The lines of those who wait in this process, one for each name: the first asks the database, the others wait behind it. So
 * they are served in order, and a release does not set all of them on the database.
 */
final class WaitingLines {
    private final Map<String, Line> lines = new ConcurrentHashMap<>();

    private static final class Line {
        final Semaphore first = new Semaphore(1, true);
        int members;
    }

    /** Returns whether the caller has become the first in time; if so, it leaves later. */
    boolean enter(String key, Deadline deadline) throws InterruptedException {
        Line line = join(key);
        boolean first = false;
        try {
            first = line.first.tryAcquire(deadline.remaining().toNanos(), TimeUnit.NANOSECONDS);
        } finally {
            if (!first) {
                part(key);
            }
        }
        return first;
    }

    private Line join(String key) {
        return lines.compute(key, (unused, known) -> {
            Line line = known == null ? new Line() : known;
            line.members++;
            return line;
        });
    }

    void leave(String key) {
        Line line = lines.get(key);
        if (line != null) {
            line.first.release();
            part(key);
        }
    }

    private void part(String key) {
        lines.computeIfPresent(key, (unused, line) -> --line.members == 0 ? null : line);
    }
}
