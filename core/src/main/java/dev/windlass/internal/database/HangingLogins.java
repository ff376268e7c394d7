package dev.windlass.internal.database;

import java.time.Duration;

/**
 * Logins that were given up, but hang on. So that they do not become ever more, the next is tried after a growing pause, or as soon as one of
 * them has ended. Guarded by whoever has it.
 */
public final class HangingLogins {
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);
    private static final int MOST_DOUBLINGS = 10;

    private int hanging;
    private long next = System.nanoTime();

    public boolean mayLogIn(long now) {
        return hanging == 0 || next - now <= 0;
    }

    public void oneHangs(long now) {
        Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(hanging, MOST_DOUBLINGS));
        hanging++;
        next = now + Math.min(pause.toNanos(), LONGEST_PAUSE.toNanos());
    }

    public void oneHasEnded(long now) {
        hanging--;
        next = now;
    }

    public boolean isNone() {
        return hanging == 0;
    }
}
