package dev.windlass.spring;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Lets handlers begin when the context is ready, and end before what they need is closed. A context may be stopped and started again, as tests
 * do with those they keep.
 */
final class WindlassLifecycle implements SmartLifecycle {
    /**
     * Web servers begin at 2,048 below the last phase, and end what they are answering at 1,024. Handlers begin after and end before that: a
     * request that is being answered can write messages without them, for other nodes.
     */
    static final int AFTER_WEB_SERVERS = Integer.MAX_VALUE - 512;

    /** A fleet has to be there while requests are answered: what they write to is opened when it starts. */
    static final int BEFORE_WEB_SERVERS = Integer.MAX_VALUE - 4096;

    private final Runnable starting;
    private final Runnable stopping;
    private final int phase;
    private final boolean staying;
    private volatile boolean started;
    private final AtomicReference<@Nullable Thread> stays = new AtomicReference<>();

    /**
     * @param staying whether the process goes on while this runs, if nothing else lets it: threads of Windlass are daemons, and main is over
     *     when the application has started
     */
    WindlassLifecycle(Runnable starting, Runnable stopping, int phase, boolean staying) {
        this.starting = starting;
        this.stopping = stopping;
        this.phase = phase;
        this.staying = staying;
    }

    @Override
    public void start() {
        starting.run();
        started = true;
        Thread thread = new Thread(WindlassLifecycle::stay, "windlass-keep-alive");
        thread.setDaemon(false);
        if (staying && stays.compareAndSet(null, thread)) {
            thread.start();
        }
    }

    private static void stay() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            // it is stopped
        }
    }

    @Override
    public void stop() {
        started = false;
        try {
            stopping.run();
        } finally {
            Thread thread = stays.getAndSet(null);
            if (thread != null) {
                thread.interrupt();
            }
        }
    }

    /** Also while the database is waited for. */
    @Override
    public boolean isRunning() {
        return started;
    }

    @Override
    public int getPhase() {
        return phase;
    }
}
