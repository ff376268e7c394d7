package dev.windlass.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Does the same for each of several things, some at once. */
final class AtOnce {

    private AtOnce() {}

    /** What is done for each. */
    @FunctionalInterface
    interface Each<T> {
        void of(T one) throws Exception;
    }

    /** Ends with the first that fails. */
    static <T> void run(int threads, List<T> all, Each<T> each) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (T one : all) {
                running.add(executor.submit(() -> {
                    each.of(one);
                    return true;
                }));
            }
            for (Future<?> done : running) {
                done.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            executor.shutdownNow();
        }
    }
}
