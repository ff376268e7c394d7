package dev.windlass.internal.loop;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.MDC;

/**
 * The threads of one Windlass: a timer, a pool for loops, and threads for handlers.
 *
 * <p>Handlers run on virtual threads where the JVM has them. Loops do not: handlers that only compute would keep every
 * carrier busy, and a heartbeat must not wait for them.
 */
public final class Workers implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer;
    private final ExecutorService loops;
    private final ExecutorService handlers;

    public Workers() {
        timer = new ScheduledThreadPoolExecutor(1, named("windlass-timer"));
        timer.setRemoveOnCancelPolicy(true);
        timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        timer.prestartCoreThread(); // later there may be no thread to have
        loops = Executors.newCachedThreadPool(named("windlass-loop"));
        handlers = handlerThreads();
    }

    /** By reflection: this is compiled for Java 17. */
    private static ExecutorService handlerThreads() {
        try {
            Object ofVirtual = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> builder = Class.forName("java.lang.Thread$Builder");
            Object named =
                    builder.getMethod("name", String.class, long.class).invoke(ofVirtual, "windlass-handler-", 1L);
            ThreadFactory threads = (ThreadFactory) builder.getMethod("factory").invoke(named);
            return (ExecutorService) Executors.class
                    .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
                    .invoke(null, threads);
        } catch (NoSuchMethodException e) {
            return Executors.newCachedThreadPool(named("windlass-handler"));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot make virtual threads", e);
        }
    }

    private static ThreadFactory named(String prefix) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, prefix + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** For what must not wait for handlers. */
    public void runLoop(Runnable task) {
        loops.execute(task);
    }

    /** For code of users, which may take its time. What it leaves in the logging context is not for the next who gets the thread. */
    public void runHandlers(Runnable task) {
        handlers.execute(() -> {
            try {
                task.run();
            } finally {
                MDC.clear();
            }
        });
    }

    public ScheduledFuture<?> after(Duration delay, Runnable task) {
        return timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The same for what may take its time. */
    public ScheduledFuture<?> later(Duration delay, Runnable task) {
        return after(delay, () -> runLoop(task));
    }

    /** Ends the loops' threads; handlers that ignore their cancellation are left to themselves. */
    @Override
    public void close() {
        timer.shutdownNow();
        loops.shutdown();
        handlers.shutdown();
    }
}
