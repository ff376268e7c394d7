package dev.windlass.internal.health;

import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthReport.Entry;
import dev.windlass.health.HealthStatus;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One check, which is at work once at most: who asks while it hangs gets told so. */
final class CheckRun {
    private final NamedCheck named;
    private final Function<Throwable, String> inWords;
    private @Nullable CompletableFuture<Entry> running;
    private long began;

    /**
     * @param inWords what may be said about an error
     */
    CheckRun(NamedCheck named, Function<Throwable, String> inWords) {
        this.named = named;
        this.inWords = inWords;
    }

    /** Starts it, unless it is at work. */
    synchronized void start(Threads threads) {
        if (running == null || running.isDone()) {
            CompletableFuture<Entry> started = new CompletableFuture<>();
            running = started;
            began = System.nanoTime();
            Entry untold = failed(Duration.ZERO, "it ended, and nobody could tell how");
            try {
                threads.run(() -> {
                    try {
                        started.complete(check());
                    } finally {
                        started.complete(untold);
                    }
                });
            } catch (RejectedExecutionException | OutOfMemoryError e) {
                started.complete(failed(Duration.ZERO, "found no thread for it"));
            }
        }
    }

    /** Waits for it no longer than this. */
    Entry await(Duration patience) throws InterruptedException {
        CompletableFuture<Entry> started;
        synchronized (this) {
            started = Objects.requireNonNull(running);
        }
        try {
            return started.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return failed(Duration.ofNanos(System.nanoTime() - began), "it has not answered in time");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e); // a check completes its answer, whatever happens
        }
    }

    private Entry check() {
        long start = System.nanoTime();
        try {
            HealthFinding finding = Objects.requireNonNull(named.check().check(), "it found nothing, not even health");
            return new Entry(named.name(), finding.status(), since(start), finding.description(), Optional.empty());
        } catch (Throwable e) {
            return failed(since(start), told(e));
        }
    }

    /** An exception of somebody else may not even tell what it says. */
    private String told(Throwable e) {
        try {
            return inWords.apply(e);
        } catch (RuntimeException again) {
            return e.getClass().getName();
        }
    }

    private Entry failed(Duration took, String error) {
        return new Entry(named.name(), HealthStatus.UNHEALTHY, took, "the check could not be done", Optional.of(error));
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** Where checks run. */
    @FunctionalInterface
    interface Threads {
        void run(Runnable check);
    }
}
