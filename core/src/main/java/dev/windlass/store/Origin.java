package dev.windlass.store;

import java.time.Duration;
import javax.sql.DataSource;

/**
 * What a pool knows of one data source. Guarded by the pool.
 *
 * <p>Logins without an answer are given up, but hang on; so that they do not become ever more, the next is tried after a growing pause,
 * or as soon as one of them has ended.
 */
final class Origin {
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);
    private static final int MOST_DOUBLINGS = 10;

    final DataSource source;
    /** How many of its connections somebody uses, or waits for. */
    int lent;

    private int hanging;
    private long nextLogin = System.nanoTime();

    Origin(DataSource source) {
        this.source = source;
    }

    boolean mayLogIn(long now) {
        return hanging == 0 || nextLogin - now <= 0;
    }

    void hangs(long now) {
        Duration pause = Login.LONGEST.multipliedBy(1L << Math.min(hanging, MOST_DOUBLINGS));
        hanging++;
        nextLogin = now + Math.min(pause.toNanos(), LONGEST_PAUSE.toNanos());
    }

    void hangsNoMore(long now) {
        hanging--;
        nextLogin = now;
    }

    /** Whether there is nothing to be remembered. */
    boolean isQuiet() {
        return lent == 0 && hanging == 0;
    }
}
