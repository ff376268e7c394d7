package dev.windlass.internal.database;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** Runs something after a time, unless it is called off before, on a thread that it may hold up. */
@FunctionalInterface
public interface Later {
    /** Where there are no threads for that. */
    Later NEVER = (delay, task) -> new CompletableFuture<>();

    Future<?> after(Duration delay, Runnable task);
}
