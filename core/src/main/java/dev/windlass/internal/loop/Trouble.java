package dev.windlass.internal.loop;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.database.SqlError;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Failures in a row of something that is tried again and again. The first and the recovery are logged. Of an outage of the
 * database, and of a pool without a free connection, {@link Database} tells once for all. Used by one thread at a time.
 */
final class Trouble {
    private static final Logger log = LoggerFactory.getLogger(Loop.class);

    private static final int DEEP = 10;

    private final String name;
    private volatile int failures;
    private boolean told;

    /**
     * @param name what is tried, for the log
     */
    Trouble(String name) {
        this.name = name;
    }

    int failures() {
        return failures;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by one thread at a time
    void failed(Throwable e) {
        failures++;
        if (told || SqlError.isOutage(e) || PoolTimeout.isBehind(e) || isInterrupted(e)) {
            log.debug("{} has failed {} times", name, failures, e);
            return;
        }
        told = true;
        log.warn("{} failed and goes on trying", name, e);
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
        if (told) {
            log.info("{} works again after {} failures", name, failures);
        } else if (failures > 0) {
            log.debug("{} works again after {} failures", name, failures);
        }
        failures = 0;
        told = false;
    }
}
