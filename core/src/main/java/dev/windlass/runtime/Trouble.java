package dev.windlass.runtime;

import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Failures in a row of something that is tried again and again. The first and the recovery are logged, and in between whether the
 * pool has no connection, or has one again. Of an outage of the database, {@link Database} tells once for all. Used by one thread
 * at a time.
 */
final class Trouble {
    private static final Logger log = LoggerFactory.getLogger(Loop.class);

    private final String name;
    private volatile int failures;
    private boolean lacksConnection;
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
        Optional<PoolTimeout> timeout = PoolTimeout.behind(e);
        boolean isNew = !told || timeout.isPresent() != lacksConnection;
        if (!isNew || SqlError.isOutage(e)) {
            log.debug("{} has failed {} times", name, failures, e);
            return;
        }
        told = true;
        lacksConnection = timeout.isPresent();
        if (lacksConnection) {
            log.warn("{} waits: {}", name, timeout.get().getMessage());
        } else {
            log.warn("{} failed and goes on trying", name, e);
        }
    }

    void over() {
        if (told) {
            log.info("{} works again after {} failures", name, failures);
        } else if (failures > 0) {
            log.debug("{} works again after {} failures", name, failures);
        }
        failures = 0;
        told = false;
        lacksConnection = false;
    }
}
