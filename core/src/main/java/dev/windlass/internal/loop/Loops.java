package dev.windlass.internal.loop;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.database.Database;
import java.time.Duration;
import java.util.List;

/** Loops that end together: all are told before any is waited for. */
public record Loops(List<Loop> all) {
    private static final Duration AFTER_A_BREAK = Duration.ofMillis(300);

    public Loops {
        all = List.copyOf(all);
    }

    public void askToStop() {
        all.forEach(Loop::askToStop);
    }

    /** Returns whether all have ended by then. */
    public boolean awaitEnd(Deadline deadline) {
        return all.stream().filter(loop -> !loop.awaitEnd(deadline)).toList().isEmpty();
    }

    /**
     * Waits for the steps that are running until it is late. Then breaks off the calls they make, and lets them wait no longer
     * for a connection. Returns whether all have ended.
     */
    public boolean end(Deadline late, Database calls) {
        askToStop();
        if (awaitEnd(late)) {
            return true;
        }
        calls.breakOff();
        all.forEach(Loop::interrupt);
        return awaitEnd(Deadline.in(MonotonicClock.system(), AFTER_A_BREAK));
    }
}
