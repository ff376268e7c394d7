package dev.windlass.runtime;

import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of the things that maintenance does, a small batch at a time. What goes wrong with it is its own affair: it is logged when
 * it begins and when it ends, and never keeps another chore from being done.
 */
public final class Chore {
    public static final int BATCH = 500;
    private static final Logger log = LoggerFactory.getLogger(Chore.class);

    private final String name;
    private final Work work;
    private final IntConsumer done;
    private int total;
    private int failures;

    /** Changes a batch at most, and returns how many it changed. */
    @FunctionalInterface
    public interface Work {
        int run() throws Exception;
    }

    /**
     * @param name what it is, for the log
     * @param done told how many were changed, once there are no more
     */
    public Chore(String name, Work work, IntConsumer done) {
        this.name = name;
        this.work = work;
        this.done = done;
    }

    /** Does one batch. Returns whether there is more to do at once. */
    public boolean run() {
        try {
            int changed = work.run();
            recovered();
            total += changed;
            if (changed < BATCH) {
                report();
            }
            return changed >= BATCH;
        } catch (Throwable e) {
            failed(e);
            return false;
        }
    }

    private void report() {
        int changed = total;
        total = 0;
        if (changed > 0) {
            done.accept(changed);
        }
    }

    private void recovered() {
        if (failures > 0) {
            log.info("{} works again after {} failures", name, failures);
            failures = 0;
        }
    }

    private void failed(Throwable e) {
        failures++;
        if (failures == 1) {
            log.warn("{} failed and goes on trying", name, e);
        } else {
            log.debug("{} has failed {} times", name, failures, e);
        }
    }

    public boolean hasFailed() {
        return failures > 0;
    }
}
