package dev.windlass.internal.loop;

import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.database.SqlError;
import dev.windlass.internal.support.InWords;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Failures in a row of something that is tried again and again. The first and the recovery are logged. If it fails again soon after
 * that, it is said once more, and then nothing until it has worked for a while. Of an outage of the database, and of a pool without a
 * free connection, {@link Database} tells once for all. Used by one thread at a time.
 */
final class Trouble {
    private static final Logger log = LoggerFactory.getLogger(Loop.class);

    private static final int DEEP = 10;

    private static final Duration CALM = Duration.ofMinutes(1);

    private final String name;
    private final MonotonicClock clock;
    private volatile int failures;
    /** Since the last recovery that was told. */
    private int all;

    private boolean told;
    /** It fails and works in turns. */
    private boolean unsteady;

    private long lastFailure;
    private long calmUntil;

    /**
     * @param name what is tried, for the log
     */
    Trouble(String name) {
        this(name, MonotonicClock.system());
    }

    Trouble(String name, MonotonicClock clock) {
        this.name = name;
        this.clock = clock;
        this.calmUntil = clock.nanos();
    }

    int failures() {
        return failures;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by one thread at a time
    void failed(Throwable e) {
        failures++;
        all++;
        lastFailure = clock.nanos();
        if (told || SqlError.isOutage(e) || PoolTimeout.isBehind(e) || isInterrupted(e)) {
            log.debug("{} has failed {} times", name, failures, e);
            return;
        }
        told = true;
        unsteady = calmUntil - lastFailure > 0;
        if (unsteady) {
            log.warn(
                    "{} fails and works in turns; nothing more is said until it has worked for {}",
                    name,
                    InWords.of(CALM),
                    e);
        } else {
            log.warn("{} failed and goes on trying", name, e);
        }
    }

    /** Whoever is interrupted has been told to stop: that is no trouble. */
    private static boolean isInterrupted(Throwable failure) {
        Throwable e = failure;
        for (int depth = 0; e != null && depth < DEEP; depth++, e = e.getCause()) {
            if (e instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    void over() {
        failures = 0;
        if (all == 0 || (unsteady && clock.nanos() - lastFailure < CALM.toNanos())) {
            return;
        }
        if (told) {
            log.info("{} works again after {} failures", name, all);
            calmUntil = clock.nanos() + CALM.toNanos();
        } else {
            log.debug("{} works again after {} failures", name, all);
        }
        all = 0;
        told = false;
        unsteady = false;
    }
}
