package dev.windlass.spring;

import dev.windlass.Windlass;
import org.springframework.context.SmartLifecycle;

/**
 * Lets handlers begin when the context is ready, after the web server has begun to listen, and end before it stops: a request that is being
 * answered then can still write messages, for other nodes.
 *
 * <p>A context may be stopped and started again, as tests do with those they keep.
 */
final class WindlassLifecycle implements SmartLifecycle {
    /** Web servers begin at 2,048 below the last phase, and end what they are answering at 1,024. */
    static final int PHASE = Integer.MAX_VALUE - 512;

    private final Windlass windlass;
    private volatile boolean started;

    WindlassLifecycle(Windlass windlass) {
        this.windlass = windlass;
    }

    @Override
    public void start() {
        windlass.start();
        started = true;
    }

    @Override
    public void stop() {
        started = false;
        windlass.close();
    }

    /** Also while the database is waited for. */
    @Override
    public boolean isRunning() {
        return started;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
