package dev.windlass.internal.loop;

import java.util.function.IntConsumer;

/**
 * One of the things that maintenance does, a small batch at a time. What goes wrong with it is its own affair: it is logged when
 * it begins and when it ends, and never keeps another chore from being done.
 *
 * <p>The database leaves out what cannot be changed, and fails if that is all it has found. So a round goes on as long as
 * something is changed; and if nothing was, the next one looks further, since those that cannot be changed may come first.
 */
public final class Chore {
    public static final int BATCH = 500;
    private static final int LARGEST_BATCH = 8 * BATCH;

    private final Work work;
    private final IntConsumer done;
    private final Trouble trouble;
    private int batch = BATCH;
    private int total;

    /** Changes a batch at most, and returns how many it changed. */
    @FunctionalInterface
    public interface Work {
        int run(int batch) throws Exception;
    }

    /**
     * @param name what it is, for the log
     * @param done told how many were changed, once there are no more
     */
    public Chore(String name, Work work, IntConsumer done) {
        this.trouble = new Trouble(name);
        this.work = work;
        this.done = done;
    }

    /** Does one batch. Returns whether there is more to do at once. */
    public boolean run() {
        try {
            int changed = work.run(batch);
            total += changed;
            if (changed > 0) {
                return true;
            }
            batch = BATCH;
            trouble.over();
        } catch (Throwable e) {
            batch = total > 0 ? batch : Math.min(2 * batch, LARGEST_BATCH);
            trouble.failed(e);
        }
        report();
        return false;
    }

    private void report() {
        int changed = total;
        total = 0;
        if (changed > 0) {
            done.accept(changed);
        }
    }

    public boolean hasFailed() {
        return trouble.failures() > 0;
    }
}
