package dev.windlass.internal.dispatch;

/** Starts a dispatcher once its node has begun and somebody wants its queue: a node on which nobody does pays nothing for it. */
public final class OnDemand {
    private final Dispatcher<?> dispatcher;
    private boolean wanted;
    private boolean running;
    private boolean started;

    /**
     * @param wanted whether somebody does already, as by a handler
     */
    public OnDemand(Dispatcher<?> dispatcher, boolean wanted) {
        this.dispatcher = dispatcher;
        this.wanted = wanted;
    }

    /** Who asks for the queue uses it, and from then on looks after it. */
    public synchronized void want() {
        wanted = true;
        startIfWanted();
    }

    public synchronized void start() {
        running = true;
        startIfWanted();
    }

    /** Only once: each start would ask and hear for this queue once more, and users ask for it with every item they write. */
    private void startIfWanted() {
        if (running && wanted && !started) {
            started = true;
            dispatcher.start();
        }
    }
}
