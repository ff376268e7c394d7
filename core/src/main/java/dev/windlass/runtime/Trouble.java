package dev.windlass.runtime;

import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Failures in a row of something that is tried again and again. The first and the recovery are logged, and in between whether the
 * pool has no connection, or has one again. Used by one thread at a time.
 */
final class Trouble {
    private static final Logger log = LoggerFactory.getLogger(Loop.class);

    private final String name;
    private volatile int failures;
    private boolean lacksConnection;

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
        boolean changed = failures == 1 || timeout.isPresent() != lacksConnection;
        lacksConnection = timeout.isPresent();
        if (changed && timeout.isPresent()) {
            log.warn("{} waits: {}", name, timeout.get().getMessage());
        } else if (changed) {
            log.warn("{} failed and goes on trying", name, e);
        } else {
            log.debug("{} has failed {} times", name, failures, e);
        }
    }

    void over() {
        if (failures > 0) {
            log.info("{} works again after {} failures", name, failures);
            failures = 0;
        }
    }
}
